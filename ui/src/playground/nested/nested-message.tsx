/** A message of a session that answers a call: its text, its calls, and below these the sessions that answer them. */
import { VisuallyHidden } from '@mantine/core'
import type { ShownMessage } from '../connection/live-reply.ts'
import { Failure } from '../message/failure.tsx'
import { ReplyBody } from '../message/reply-body.tsx'
import { UserText } from '../message/user-text.tsx'
import classes from './nested.module.css'

interface NestedMessageProps {
  message: ShownMessage
  /** Distinguishes its cards in `unfolded`. */
  id: string
  unfolded: Set<string>
  isFollowedByMessage: boolean
}

export function NestedMessage({ message, id, unfolded, isFollowedByMessage }: NestedMessageProps) {
  if (message.role === 'user') {
    return (
      <div className={classes.asked}>
        <VisuallyHidden>Asked: </VisuallyHidden>
        <UserText text={message.content} />
      </div>
    )
  }
  return (
    <div aria-busy={message.status === 'streaming'}>
      <ReplyBody message={message} id={id} unfolded={unfolded} marks={[]} isFollowedByMessage={isFollowedByMessage} />
      <Failure message={message} again={null} isTraceOpen={false} onTrace={null} />
    </div>
  )
}
