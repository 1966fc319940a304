/** The conversation: the newest in sight; of a long one only what is near the scroll position is rendered. */
import { Button } from '@mantine/core'
import { useCallbackRef } from '@mantine/hooks'
import { IconArrowDown } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useSelector } from '@xstate/store-react'
import { type KeyboardEvent, lazy, memo, type ReactNode, useEffect, useMemo, useState } from 'react'
import { plural } from '../../blocks/words.ts'
import { reliable } from '../../shell/reliable-import.ts'
import { type ShownMessage, shownMessages } from '../connection/live-reply.ts'
import { FindBar } from '../finding/find-bar.tsx'
import { useMarks } from '../finding/found.ts'
import { useLinkedMessage } from '../finding/linked-message.tsx'
import { MessageView } from '../message/message.tsx'
import { NestedCalls } from '../nested/nested-calls.ts'
import type { Checkpoint } from '../queries.ts'
import type { Conversation } from './branches.ts'
import { type LeftOut, useLeftOut } from './left-out.ts'
import type { MessageActions } from './message-actions.ts'
import { useStickToBottom } from './stick-to-bottom.ts'
import { SummaryMark } from './summary-mark.tsx'
import type { Transcript } from './transcript.ts'
import classes from './transcript-view.module.css'

/** Loaded where an agent is asked. */
const NestedSession = lazy(reliable(() => import('../nested/nested-session.tsx')))

interface TranscriptViewProps {
  agentName: string
  agentModel: string
  stored: Conversation
  /** The summaries of all branches. */
  checkpoints: readonly Checkpoint[]
  transcript: Transcript
  actions: MessageActions
  /** Ends the search within the session. Null while there is none. */
  onFound?: (() => void) | null
  /** Instead of the conversation while it is empty. */
  empty: ReactNode
}

/**
 * The transcript. Its props stay the same while a message is typed: it renders again only when the conversation
 * changes.
 */
export const TranscriptView = memo((props: TranscriptViewProps) => {
  const { agentName, agentModel, stored, checkpoints, transcript, actions, onFound = null, empty } = props
  const left = useLeftOut(stored.path)
  const live = useSelector(transcript, ({ context }) => context.live)
  const messages = useMemo(() => shownMessages(stored, live), [stored, live])
  const { scroller, content, rows, near, space, isAtBottom, toBottom, goTo } = useRows(messages)
  const linked = useLinkedMessage(stored, { goTo, turnTo: actions.turnTo })
  useMarks(content, 'searched', linked.words)
  const [unfolded] = useState(() => new Set<string>())
  // The reader's own message is always scrolled into sight.
  const sentAt = live?.userText === null && live.behind === undefined ? undefined : live?.startedAt
  useEffect(() => {
    if (sentAt !== undefined) toBottom()
  }, [sentAt, toBottom])
  const last = messages.at(-1)
  // Smooth scrolling that far would miss: rows that it passes are measured meanwhile, which moves the target.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Home' && event.key !== 'End') return
    event.preventDefault()
    if (event.key === 'Home') rows.scrollToOffset(0)
    else toBottom()
  }
  return (
    <div className={classes.transcript}>
      {onFound && <FindBar messages={messages} root={content} goTo={goTo} onClose={onFound} />}
      <section
        ref={scroller}
        className={classes.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        onKeyDown={onKeyDown}
      >
        {/* In the flow: a row that grows moves what is below at once, and the space around stands for the others. */}
        <div ref={content} className={classes.messages} style={space}>
          {messages.length === 0 && empty}
          <NestedCalls value={NestedSession}>
            {near.map(({ index }) => {
              const message = messages[index]
              return (
                message && (
                  // The index stays when the stored message replaces the live one, and when another branch is shown.
                  <div
                    key={index}
                    ref={rows.measureElement}
                    data-index={index}
                    data-linked={(message.id !== null && message.id === linked.id) || undefined}
                  >
                    {left.messages > 0 && left.messages === index && left.reason !== 'compacted' && (
                      <LeftOutMark left={left} />
                    )}
                    <MessageView
                      message={message}
                      place={index + 1}
                      count={messages.length}
                      agentName={agentName}
                      agentModel={agentModel}
                      unfolded={unfolded}
                      actions={actions}
                      isLast={message === last}
                      isFollowedByMessage={messages[index + 1]?.role === 'user'}
                    />
                    {summaryBelow(message, checkpoints, unfolded)}
                  </div>
                )
              )
            })}
          </NestedCalls>
        </div>
        {/* In what scrolls, so that the wheel scrolls over it too. */}
        <div className={classes.jump}>{!isAtBottom && <ToNewest onClick={toBottom} />}</div>
      </section>
    </div>
  )
})

/** Renders the newest summary that ends with this message. */
function summaryBelow({ id }: ShownMessage, checkpoints: readonly Checkpoint[], unfolded: Set<string>): ReactNode {
  const checkpoint = id === null ? undefined : checkpoints.findLast(({ throughMessageId }) => throughMessageId === id)
  return checkpoint && <SummaryMark key={checkpoint.id} checkpoint={checkpoint} unfolded={unfolded} />
}

/** Above the first message that is still sent. */
const LeftOutMark = ({ left: { messages, tokens } }: { left: LeftOut }) => (
  <div className={classes.left} role="note">
    {messages === 1 ? 'The message above is' : `The ${messages} messages above are`} no longer sent to the model: about{' '}
    {plural(tokens, 'token')} beyond the limit of the history.
  </div>
)

const ToNewest = ({ onClick }: { onClick: () => void }) => (
  <Button
    size="xs"
    radius="xl"
    variant="default"
    leftSection={<IconArrowDown size={15} aria-hidden />}
    onClick={onClick}
  >
    Jump to newest
  </Button>
)

/** Returns the rows that are rendered, and the space that stands for the others. */
function useRows(messages: readonly ShownMessage[]) {
  const { scroller, content, stuck, isAtBottom, toBottom } = useStickToBottom()
  const rows = useVirtualizer({
    count: messages.length,
    // An empty conversation is not measured: its page is laid out once less before it is seen.
    enabled: messages.length > 0,
    getScrollElement: () => scroller.current,
    estimateSize: (place) => likelyHeight(messages[place]),
    initialOffset: farBelow,
    // Not rounded, as it is by default: rows are in the flow, and would be moved by the rest when one goes.
    measureElement: (row, entry) => entry?.borderBoxSize[0]?.blockSize ?? row.getBoundingClientRect().height,
    overscan: 3,
    paddingStart: 16,
    paddingEnd: 12,
  })
  // Only the hook keeps the newest in sight; otherwise rows above must not move what is being read.
  rows.shouldAdjustScrollPositionOnItemSizeChange = ({ end }) => !stuck.current && end <= (rows.scrollOffset ?? 0)
  const goTo = useCallbackRef((place: number) => {
    stuck.current = false
    rows.scrollToIndex(place, { align: 'start' })
  })
  const near = rows.getVirtualItems()
  const space = { paddingTop: near[0]?.start, paddingBottom: rows.getTotalSize() - (near.at(-1)?.end ?? 0) }
  return { scroller, content, rows, near, space, isAtBottom, toBottom, goTo }
}

/** Pixels beyond any transcript's end: it opens at its end. */
const farBelow = 1e9

/** Estimates the height in pixels, until the message has been drawn once. */
function likelyHeight(message: ShownMessage | undefined): number {
  if (message === undefined) return 0
  const { role, content, reasoning, toolCalls, parts = [] } = message
  if (role === 'user') return 92 + (parts.length > 0 ? 190 : 0) + 25 * Math.floor(content.length / 75)
  return 88 + content.length / 3 + 60 * (toolCalls.length + (reasoning ? 1 : 0))
}
