/** Inputs for one override each, wherever requests are given settings of their own. When empty, the agent's setting applies. */
import { Select, TextInput, type TextInputProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { useTyped } from '../../blocks/forms/use-typed.ts'
import { promptResource } from '../../prompts/resource.ts'
import { DiscardText } from './discard-text.tsx'
import type { OverrideState } from './overrides.ts'

interface OverrideInputProps {
  agent: Agent
  state: OverrideState
  size?: NonNullable<TextInputProps['size']>
}

export function ModelInput({ agent, state: { overrides, set }, size = 'sm' }: OverrideInputProps) {
  const [model, type] = useTyped(overrides.model ?? '', (typed) => set({ model: typed || null }))
  return (
    <TextInput
      size={size}
      label="Model"
      placeholder={agent.model}
      value={model}
      onChange={({ currentTarget: { value } }) => type(value)}
    />
  )
}

export function PromptSelect({ agent, state: { overrides, set }, size = 'sm' }: OverrideInputProps) {
  const { data: prompts = [] } = useQuery(promptResource.all)
  const [asked, setAsked] = useState<{ prompt: string | null } | null>(null)
  const choose = (prompt: string | null) => void set({ prompt })
  return (
    <>
      <Select
        size={size}
        label="Prompt"
        placeholder={prompts.find(({ id }) => id === agent.promptId)?.name ?? 'none'}
        data={prompts.map(({ id, name }) => ({ value: id, label: name }))}
        value={overrides.prompt ?? null}
        onChange={(prompt) => (overrides.system === undefined ? choose(prompt) : setAsked({ prompt }))}
        clearable
        clearButtonProps={{ 'aria-label': 'Use the agent’s prompt' }}
      />
      <DiscardText
        isAsked={asked !== null}
        onDiscard={() => {
          if (asked) choose(asked.prompt)
          setAsked(null)
        }}
        onKeep={() => setAsked(null)}
      />
    </>
  )
}
