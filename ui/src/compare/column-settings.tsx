/** What columns mostly differ in; the drawer has the rest. */
import { NumberInput, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '../agents/resource.ts'
import { OverrideChips } from '../playground/override-chips.tsx'
import type { OverrideState } from '../playground/overrides.ts'
import { promptResource } from '../prompts/resource.ts'
import classes from './compare.module.css'

const here = ['model', 'temperature', 'prompt'] as const

export function ColumnSettings({ agent, state }: { agent: Agent; state: OverrideState }) {
  const { overrides, set } = state
  const { data: prompts = [] } = useQuery(promptResource.all)
  return (
    <>
      <div className={classes.fields}>
        <TextInput
          size="xs"
          label="Model"
          placeholder={agent.model}
          value={overrides.model ?? ''}
          onChange={({ currentTarget: { value } }) => set({ model: value || null })}
        />
        <NumberInput
          size="xs"
          label="Temperature"
          placeholder={String(agent.generationConfig.temperature ?? 'default')}
          step={0.1}
          min={0}
          max={2}
          value={overrides.temperature ?? ''}
          onChange={(value) => set({ temperature: value === '' ? null : String(value) })}
        />
        <Select
          size="xs"
          label="Prompt"
          placeholder={prompts.find(({ id }) => id === agent.promptId)?.name ?? 'none'}
          data={prompts.map(({ id, name }) => ({ value: id, label: name }))}
          value={overrides.prompt ?? null}
          onChange={(prompt) => set({ prompt })}
          clearable
          clearButtonProps={{ 'aria-label': 'Use the agent’s prompt' }}
        />
      </div>
      <OverrideChips state={state} without={here} />
    </>
  )
}
