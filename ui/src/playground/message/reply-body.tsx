/** A reply as it is read: its reasoning, its text, and its calls where they were made. */
import { segments } from '../../replies/segments.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { type Mark, marksWithin } from '../markdown/marks.tsx'
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
