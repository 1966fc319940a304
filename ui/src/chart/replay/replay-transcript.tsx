import { Text } from '@mantine/core'
import { IconAlertTriangle, IconTool } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { ToolName } from '../../agents/tool-name.tsx'
import { Card } from '../../blocks/card.tsx'
import { Reason } from '../../blocks/messages/reason.tsx'
import { segments } from '../../replies/segments.ts'
import type { Message } from '../queries.ts'
import { duration } from '../words.ts'
import styles from './replay.module.css'
import type { SeenMessage } from './replay-moments.ts'

/** The number of messages shown, the last ones of a long conversation. */
const mostShown = 40

/** The conversation as it was at this moment. */
export function ReplayTranscript({ seen }: { seen: readonly SeenMessage[] }) {
  const shown = seen.slice(-mostShown)
  const end = useRef<HTMLDivElement>(null)
  const last = shown.at(-1)
  useEffect(() => {
    const box = end.current
    if (box) box.scrollTop = box.scrollHeight
  }, [last?.message.id, last?.running, last?.begun.size, last?.ended.size])
  return (
    <Card
      title="The conversation at this moment"
      aside={
        seen.length > shown.length && (
          <Text fz="xs" c="dimmed">
            {seen.length - shown.length} earlier messages not shown
          </Text>
        )
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div ref={end} className={styles.transcript} tabIndex={0} role="log" aria-label="Conversation" aria-live="off">
        {shown.length === 0 && (
          <Text c="dimmed" fz="sm">
            No messages yet.
          </Text>
        )}
        {shown.map((one) => (
          <Spoken key={one.message.id} seen={one} />
        ))}
      </div>
    </Card>
  )
}

function outcomeOf({ ok, durationMs }: Message['toolCalls'][number], finishReason: Message['finishReason']): string {
  if (ok === null) return finishReason === 'tool_calls' ? 'waiting for an answer' : 'outcome unknown'
  return `${ok ? 'answered' : 'failed'}${durationMs === null ? '' : ` in ${duration(durationMs)}`}`
}

function Spoken({ seen: { message, running, begun, ended } }: { seen: SeenMessage }) {
  const { role, content, finishReason, error, toolCalls } = message
  const calls = running ? toolCalls.filter(({ id }) => begun.has(id)) : toolCalls
  return (
    <article className={styles.message} data-role={role} data-running={running || undefined}>
      <h3 className={styles.who}>{role === 'user' ? 'User' : 'Reply'}</h3>
      {!running && message.reasoning !== undefined && (
        <details className={styles.thought}>
          <summary>Reasoning{message.reasoningMs === undefined ? '' : `, ${duration(message.reasoningMs)}`}</summary>
          <p className={styles.content}>{message.reasoning}</p>
        </details>
      )}
      {segments(running ? '' : content, calls).map((segment) =>
        'text' in segment ? (
          <p key={segment.key} className={styles.content}>
            {segment.text.trim()}
          </p>
        ) : (
          <p key={segment.key} className={styles.tool}>
            <IconTool size={14} stroke={1.7} aria-hidden />
            <b>
              <ToolName seen={segment.call.name} />
            </b>
            {running && !ended.has(segment.call.id) ? 'runs…' : outcomeOf(segment.call, finishReason)}
          </p>
        ),
      )}
      {running && <p className={styles.running}>writing…</p>}
      {!running && finishReason === 'cancelled' && <p className={styles.ending}>cancelled here</p>}
      {!running && error && (
        <div className={styles.ending} data-bad>
          <p>
            <IconAlertTriangle size={14} stroke={1.7} aria-hidden /> <b>{error.code}</b>
          </p>
          <Reason text={error.message} />
        </div>
      )}
    </article>
  )
}
