/** A reply as it is read: its reasoning, its text, and its calls where they were made. */
import type { ShownMessage } from '../connection/live-reply.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { type Mark, marksWithin } from '../markdown/marks.tsx'
import type { ToolCall } from '../queries.ts'
import classes from './message.module.css'
import { Reasoning } from './reasoning.tsx'
import { ToolCard } from './tool-card.tsx'

interface ReplyBodyProps {
  message: Pick<ShownMessage, 'content' | 'reasoning' | 'reasoningMs' | 'toolCalls' | 'status' | 'finishReason'>
  /** Distinguishes its cards in `unfolded`: the message's position, from 1. */
  id: string
  /** The cards that the reader has expanded, also in messages that are not rendered. */
  unfolded: Set<string>
  marks: readonly Mark[]
  /** A message of the user's follows it. */
  isFollowedByMessage: boolean
}

export function ReplyBody({ message, id, unfolded, marks, isFollowedByMessage }: ReplyBodyProps) {
  const { content, reasoning = '', reasoningMs = null, toolCalls, status } = message
  const isWriting = status === 'streaming'
  return (
    <>
      {reasoning !== '' && (
        <Reasoning
          text={reasoning}
          ms={reasoningMs}
          thinking={isWriting && content === ''}
          id={`${id} reasoning`}
          unfolded={unfolded}
        />
      )}
      {segments(content, toolCalls).map((segment, index, all) =>
        'text' in segment ? (
          <Markdown
            key={segment.key}
            text={segment.text}
            growing={isWriting && index === all.length - 1}
            marks={marks.length === 0 ? undefined : marksWithin(marks, segment.at, segment.at + segment.text.length)}
          />
        ) : (
          <ToolCard
            key={segment.key}
            call={segment.call}
            running={isWriting}
            isWaiting={message.finishReason === 'tool_calls'}
            id={`${id} ${segment.key}`}
            unfolded={unfolded}
            isFollowedByMessage={isFollowedByMessage}
          />
        ),
      )}
      {isWriting && !hasBegun(message) && (
        <div className={classes.dots} role="img" aria-label="Waiting for the first word">
          <i />
          <i />
          <i />
        </div>
      )}
    </>
  )
}

export const hasBegun = ({
  content,
  reasoning = '',
  toolCalls,
}: Pick<ShownMessage, 'content' | 'reasoning' | 'toolCalls'>): boolean =>
  content !== '' || reasoning !== '' || toolCalls.length > 0

/** `at`: where it begins in the content. */
type Segment = { key: string; at: number; text: string } | { key: string; call: ToolCall }

/** Returns the content, split where tools were called. */
function segments(content: string, calls: readonly ToolCall[]): Segment[] {
  const parts: Segment[] = []
  let at = 0
  calls.forEach((call, index) => {
    const text = content.slice(at, call.offset)
    if (text.trim() !== '') parts.push({ key: `text ${at}`, at, text })
    parts.push({ key: `call ${index}`, call })
    at = Math.max(at, call.offset)
  })
  const rest = content.slice(at)
  if (rest.trim() !== '') parts.push({ key: `text ${at}`, at, text: rest })
  return parts
}
