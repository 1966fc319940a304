/** A place within a reply to fork at: the frame under the pointer, or chosen by keyboard. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { OpenedModal } from '../../blocks/late/opened-modal.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import type { ShownMessage } from '../connection/live-reply.ts'
import { framesOf } from '../queries.ts'
import classes from './fork-dialog.module.css'
import type { MessageActions } from './message-actions.ts'

interface ForkDialogProps {
  agentId: string
  sessionId: string
  message: ShownMessage
  fork: MessageActions['fork']
  onClose: () => void
}

export default function ForkDialog({ agentId, sessionId, message, fork, onClose }: ForkDialogProps) {
  const { content } = message
  const messageId = message.id ?? ''
  const { data: frames, error } = useQuery({ ...framesOf(agentId, sessionId, messageId), staleTime: 0 })
  const onFork = (frameId: number) => {
    onClose()
    fork?.(messageId, frameId)
  }
  return (
    <OpenedModal onClose={onClose} title="Branch from this word" size="xl">
      <ErrorAlert error={error} />
      {frames === undefined && !error && <AwaitedLines count={5} />}
      {frames?.length === 0 && (
        <Text>This reply has no frames here: it was copied with its session, or given to it.</Text>
      )}
      {frames && frames.length > 0 && <Places frames={frames} content={content} onFork={onFork} onClose={onClose} />}
    </OpenedModal>
  )
}

const steps: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
  Home: () => 0,
  End: (_, last) => last,
}

interface PlacesProps extends Pick<ForkDialogProps, 'onClose'> {
  content: string
  onFork: (frameId: number) => void
  frames: readonly { id: number; offset: number }[]
}

function Places({ frames, content, onFork, onClose }: PlacesProps) {
  const last = frames.length - 1
  const [at, setAt] = useState(last)
  const [isFixed, setFixed] = useState(false)
  const text = useRef<HTMLDivElement>(null)
  // The dialog was there before the frames were.
  useEffect(() => text.current?.focus(), [])
  const move = (to: number) => setAt(Math.max(0, Math.min(last, to)))
  const chosen = frames[at]
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && chosen) {
      event.preventDefault() // the key belongs to the dialog that goes, not to what has the focus then
      return onFork(chosen.id)
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    setFixed(true)
    move(step(at, last))
  }
  const under = ({ target }: PointerEvent): number | null => {
    const place = target instanceof HTMLElement ? target.dataset.place : undefined
    return place === undefined ? null : Number(place)
  }
  const onPointerMove = (event: PointerEvent) => {
    const place = under(event)
    if (!isFixed && place !== null) move(place)
  }
  const onPointerUp = (event: PointerEvent) => {
    const place = under(event)
    if (place === null) return
    setFixed(true)
    move(place)
  }
  return (
    <Stack>
      <Text fz="sm" c="dimmed">
        The new session begins with what had been shown up to the marked word. Point at it, or move with the arrow keys.
      </Text>
      <div
        role="slider"
        tabIndex={0}
        ref={text}
        aria-label="Where to fork"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={`Frame ${chosen?.id}: …${content.slice(0, chosen?.offset).slice(-40)}`}
        className={classes.text}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
      >
        {frames.map(({ id, offset }, place) => (
          <span key={id} data-place={place} data-behind={place > at || undefined} data-last={place === at || undefined}>
            {content.slice(frames[place - 1]?.offset ?? 0, offset)}
          </span>
        ))}
      </div>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => chosen && onFork(chosen.id)}>Branch from here</Button>
      </Group>
    </Stack>
  )
}
