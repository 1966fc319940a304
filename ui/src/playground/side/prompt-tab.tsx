/** The agent's prompt, to be changed where it is tried. What is typed goes along with each message until it is saved. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId, useMemo } from 'react'
import { Link } from 'react-router'
import type { Agent } from '../../agents/resource.ts'
import { tagOf } from '../../blocks/editing/record-tags.ts'
import { useTyped } from '../../blocks/forms/use-typed.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { plural } from '../../blocks/words.ts'
import { promptPath, promptResource } from '../../prompts/resource.ts'
import { textSize } from '../../prompts/text-size.ts'
import { PromptSelect } from '../overrides/override-inputs.tsx'
import type { OverrideState } from '../overrides/overrides.ts'
import { lineChanges } from './line-changes.ts'
import classes from './side-panel.module.css'

interface PromptTabProps {
  agent: Agent
  state: OverrideState
}

export function PromptTab({ agent, state }: PromptTabProps) {
  const { overrides, set } = state
  const promptId = overrides.prompt ?? agent.promptId
  const { data: prompt, error } = useQuery({ ...promptResource.one(promptId ?? ''), enabled: promptId !== null })
  const saved = promptId === null ? '' : prompt?.content
  // It goes along with what is typed: the prompt is read again meanwhile, and anew where the address is opened again.
  const tag = useMemo(() => prompt && tagOf(promptPath(prompt.id)), [prompt])
  const begun = tag === undefined || overrides.systemTag !== undefined ? {} : { systemTag: tag }
  const id = useId()
  const [text, type] = useTyped(overrides.system ?? saved ?? '', (typed) =>
    set(typed === saved ? { system: null } : { system: typed, ...begun }),
  )
  const { characters, tokens } = textSize(text)
  const { added, removed } = lineChanges(saved ?? '', text)
  return (
    <div className={classes.prompt}>
      <PromptSelect agent={agent} state={state} size="xs" />
      <Text component="label" htmlFor={id} fz="xs" fw={500}>
        System prompt
      </Text>
      <textarea
        id={id}
        dir="auto"
        spellCheck={false}
        placeholder="You are the assistant of…"
        disabled={saved === undefined}
        value={text}
        onChange={({ currentTarget: { value } }) => type(value)}
      />
      {saved === undefined && <ErrorAlert error={error} />}
      <div className={classes.facts} data-testid="prompt-size">
        {saved !== undefined && (
          <span>
            {plural(characters, 'character')} · about {plural(tokens, 'token')}
          </span>
        )}
        {saved !== undefined && added + removed > 0 && (
          <b>
            +{added} −{removed} lines since it was saved
          </b>
        )}
        {promptId !== null && <Link to={`/prompts/${promptId}`}>Open the prompt</Link>}
      </div>
    </div>
  )
}
