/** The middle, split: one message, answered side by side with different settings. The session itself stays as it is. */
import { Button, Group, Text } from '@mantine/core'
import { useNavigate } from 'react-router'
import type { Agent } from '../../agents/resource.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { addressOf, paramsOf } from '../../blocks/search-params.ts'
import { Column, type Question } from './column.tsx'
import classes from './columns.module.css'
import { type Column as ColumnInUrl, type useColumns, withoutColumns } from './columns-in-url.ts'
import { MessageField } from './message-field.tsx'
import { useAsking } from './use-asking.ts'

interface ColumnsProps {
  agent: Agent
  /** The session that the columns continue. Undefined when they begin anew. */
  sessionId: string | undefined
  state: ReturnType<typeof useColumns>
  /** The index of the column whose settings the side panel shows. */
  selected: number
  onSelect: (place: number) => void
  /** Opens the side panel. */
  onSettings: () => void
}

export default function Columns({ agent, sessionId, state, selected, onSelect, onSettings }: ColumnsProps) {
  const { columns, answers, hasBegun, override, clear, setSessions } = state
  const origin = sessionId === undefined ? null : { sessionId, answers }
  const asking = useAsking(agent.id, origin, setSessions)
  const { isBusy } = asking
  const ask = (question: Question) => asking.ask({ question, sessions: columns.map((one) => one.sessionId) })
  const leave = useLeaving(agent.id, sessionId)
  const remove = (index: number) => {
    const [rest, ...others] = columns.filter((_, at) => at !== index)
    if (others.length > 0) state.remove(index)
    else leave(rest)
  }
  return (
    <>
      <Group className={classes.about ?? ''} gap="xs" justify="space-between">
        <Text fz="xs" c="dimmed">
          Each message goes to every column.
          {origin && (answers ? ' They answer a message of this session' : ' They continue this session')}
          {origin && ', which stays as it is.'}
        </Text>
        <Group gap={4}>
          {hasBegun && (
            <Button size="compact-xs" variant="default" disabled={isBusy} onClick={asking.startOver}>
              Start over
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={() => leave(undefined)}>
            Close the columns
          </Button>
        </Group>
      </Group>
      <div className={classes.columns}>
        {columns.map((column, index) => (
          <Column
            // The key lets a column with a session keep its connection when a column before it is removed.
            key={column.sessionId ?? index}
            agent={agent}
            name={`Column ${index + 1}`}
            state={{
              overrides: column.overrides,
              set: (changes) => override(index, changes),
              clear: () => clear(index),
            }}
            sessionId={column.sessionId}
            origin={origin}
            question={asking.question}
            isSelected={index === selected}
            onSelect={() => onSelect(index)}
            onSettings={onSettings}
            onRemove={isBusy ? null : () => remove(index)}
            onState={asking.onState}
            stopped={asking.stopped}
          />
        ))}
      </div>
      <div className={classes.bottom}>
        <ErrorAlert error={asking.error} />
        {answers && !hasBegun ? (
          <Button
            fullWidth
            loading={asking.isPreparing}
            onClick={() => ask({ chat: { regenerate: true }, parts: [] }).catch(() => {})}
          >
            Run
          </Button>
        ) : (
          <MessageField
            agentName={agent.name}
            isBusy={isBusy || asking.isPreparing}
            onAsk={ask}
            onStop={asking.stop}
            waiting={asking.waiting}
          />
        )}
      </div>
    </>
  )
}

/** Goes back to one conversation: the column that is left, with its settings, or the session that was split. */
function useLeaving(agentId: string, sessionId: string | undefined) {
  const navigate = useNavigate()
  return (rest: ColumnInUrl | undefined) => {
    const params = rest ? new URLSearchParams(rest.overrides) : withoutColumns(paramsOf(location))
    const session = rest?.sessionId ?? sessionId
    const pathname = `/playground/${agentId}${session === undefined ? '' : `/${session}`}`
    void navigate({ pathname, ...addressOf(params) })
  }
}
