/** The conversation: the newest in sight, older ones as the reader goes up. */
import { Button } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import { useSelector } from '@xstate/store-react'
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { shownMessages } from './live-reply.ts'
import { MessageView } from './message.tsx'
import classes from './playground.module.css'
import type { Message } from './queries.ts'
import { useStickToBottom } from './stick-to-bottom.ts'
import type { Transcript } from './transcript.ts'

/** Messages on the page at first, and how many more each time. */
const step = 60

interface TranscriptViewProps {
  agentName: string
  stored: readonly Message[]
  transcript: Transcript
  onEdit: (text: string) => void
  /** Sends the text again. Null while a reply runs. */
  onRetry: ((text: string) => void) | null
  /** Instead of the conversation while it is empty. */
  empty: ReactNode
}

const noMessages: readonly Message[] = []

export function TranscriptView(props: TranscriptViewProps) {
  const { agentName, stored = noMessages, transcript, onEdit, onRetry, empty } = props
  const live = useSelector(transcript, ({ context }) => context.live)
  const messages = useMemo(() => shownMessages(stored, live), [stored, live])
  const { scroller, content, isAtBottom, toBottom: scrollDown } = useStickToBottom()
  const [shown, setShown] = useState(step)
  // The older ones go again: thousands on the page would slow the next reply down.
  const toBottom = useCallback(() => {
    setShown(step)
    scrollDown()
  }, [scrollDown])
  const first = Math.max(0, messages.length - shown)
  // What one sends oneself is always in sight.
  const sentAt = live?.userText === null ? undefined : live?.startedAt
  useEffect(() => {
    if (sentAt !== undefined) toBottom()
  }, [sentAt, toBottom])
  const showOlder = () => {
    // The browser keeps the place while it is scrolled, if only by a pixel.
    if (scroller.current?.scrollTop === 0) scroller.current.scrollTop = 1
    setShown((count) => count + step)
  }
  const last = messages.at(-1)
  const lastText = messages.findLast(({ role }) => role === 'user')?.content
  const retryLast = useMemo(
    () => (onRetry && lastText !== undefined ? () => onRetry(lastText) : null),
    [onRetry, lastText],
  )
  return (
    <div className={classes.transcript}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label="Conversation">
        <div ref={content} className={classes.messages}>
          {/* Anew for each step: one that stays in sight reports nothing. */}
          {first > 0 && <Older key={first} root={scroller} onReached={showOlder} />}
          {messages.length === 0 && empty}
          {messages.slice(first).map((message, index) => (
            <MessageView
              // A transcript only grows: the place is what stays when the server's record takes over.
              key={`${first + index}`}
              message={message}
              agentName={agentName}
              onEdit={onEdit}
              onRetry={message === last ? retryLast : null}
            />
          ))}
        </div>
      </section>
      {!isAtBottom && (
        <Button
          className={classes.jump ?? ''}
          size="xs"
          radius="xl"
          variant="default"
          leftSection={<IconArrowDown size={15} aria-hidden />}
          onClick={toBottom}
        >
          Jump to newest
        </Button>
      )}
    </div>
  )
}

/** Loads more before its place comes into sight. */
function Older({ root, onReached }: { root: RefObject<Element | null>; onReached: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const reached = useRef(onReached)
  useEffect(() => {
    if (button.current === null) return
    const near = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached.current(), {
      root: root.current,
      rootMargin: '1200px 0px 0px 0px',
    })
    near.observe(button.current)
    return () => near.disconnect()
  }, [root])
  return (
    <Button ref={button} variant="subtle" color="gray" size="xs" onClick={onReached}>
      Show earlier messages
    </Button>
  )
}
