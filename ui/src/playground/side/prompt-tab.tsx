/** The agent's prompt, to be changed where it is tried: a text that is typed becomes the draft's own. */
import { Select, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Link } from 'react-router'
import type { AgentValues } from '../../agents/agent-values.ts'
import type { Agent } from '../../agents/resource.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { plural } from '../../blocks/words.ts'
import { type Prompt, promptResource } from '../../prompts/resource.ts'
import { textSize } from '../../prompts/text-size.ts'
import { DiscardText } from './discard-text.tsx'
import { lineChanges } from './line-changes.ts'
import classes from './side-panel.module.css'

interface PromptTabProps {
  /** The agent, as it is live. */
  agent: Agent
  form: UseFormReturnType<AgentValues>
}

export function PromptTab({ agent, form }: PromptTabProps) {
  const { promptId, systemPrompt } = form.values
  const { data: prompts, error } = useQuery(promptResource.all)
  const contentOf = (one: string) => prompts?.find((prompt) => prompt.id === one)?.content
  const live = agent.promptId === null ? (agent.systemPrompt ?? '') : contentOf(agent.promptId)
  const text = promptId === null ? systemPrompt : contentOf(promptId)
  const id = useId()
  const write = (typed: string) =>
    form.setValues(
      typed === live
        ? { promptId: agent.promptId, systemPrompt: agent.systemPrompt ?? '' }
        : { promptId: null, systemPrompt: typed },
    )
  const { characters, tokens } = textSize(text ?? '')
  const { added, removed } = lineChanges(live ?? '', text ?? '')
  return (
    <div className={classes.prompt}>
      <PromptSelect form={form} prompts={prompts ?? []} />
      <Text component="label" htmlFor={id} fz="xs" fw={500}>
        System prompt
      </Text>
      <textarea
        id={id}
        dir="auto"
        spellCheck={false}
        placeholder="You are the assistant of…"
        disabled={text === undefined}
        value={text ?? ''}
        onChange={({ currentTarget: { value } }) => write(value)}
      />
      {text === undefined && <ErrorAlert error={error} />}
      <div className={classes.facts} data-testid="prompt-size">
        {text !== undefined && (
          <span>
            {plural(characters, 'character')} · about {plural(tokens, 'token')}
          </span>
        )}
        {text !== undefined && live !== undefined && added + removed > 0 && (
          <b>
            +{added} −{removed} lines against the live version
          </b>
        )}
        {promptId !== null && <Link to={`/prompts/${promptId}`}>Open the prompt</Link>}
      </div>
    </div>
  )
}

/** Asks before another prompt takes the place of a text that is the draft's own. */
function PromptSelect({ form, prompts }: Pick<PromptTabProps, 'form'> & { prompts: readonly Prompt[] }) {
  const [asked, setAsked] = useState<{ prompt: string | null } | null>(null)
  const { promptId, systemPrompt } = form.values
  const choose = (prompt: string | null) => form.setValues({ promptId: prompt, systemPrompt: '' })
  return (
    <>
      <Select
        size="xs"
        label="Prompt"
        placeholder={systemPrompt === '' ? 'None' : 'A text of its own'}
        data={prompts.map(({ id, name }) => ({ value: id, label: name }))}
        value={promptId}
        onChange={(prompt) => (systemPrompt === '' ? choose(prompt) : setAsked({ prompt }))}
        clearable
        clearButtonProps={{ 'aria-label': 'Use no prompt' }}
        error={form.errors.promptId}
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
