/** The entries of sessions below that a reply waits for, as front ends show them at its end (contract section 30). */
import type { Frame, ReplyEvent } from '../../../actors/reply/reply-event.ts'
import { pendingBelow } from '../../../features/approvals/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { MessageWithEvents } from '../../../persistence/replies/reading/reply-events.ts'
import type { PendingCall } from '../../../persistence/replies/reading/waiting-calls.ts'
import type { EncodeBatch } from '../../streaming/reply-stream.ts'

/** The encoder of a front end. `below`: what sessions below ask, where the reply ends to wait for them. */
export type FrontEndEncoder = (frames: readonly Frame[], below?: readonly PendingCall[]) => string

const asksAgent = (event: ReplyEvent): boolean => event.type === 'tool_call' && event.child !== undefined

/** Returns whether replies have called agents. */
export const haveAsked = (replies: readonly Pick<MessageWithEvents, 'events'>[]): boolean =>
  replies.some(({ events }) => events.some(asksAgent))

/** Hands an encoder what sessions below ask. It is read where a reply that has called agents ends to wait. */
export function knowingBelow(
  sql: Sql,
  replyId: string,
  earlier: readonly MessageWithEvents[],
  encode: FrontEndEncoder,
): EncodeBatch {
  let hasAsked = haveAsked(earlier)
  return (frames) => {
    hasAsked ||= frames.some((frame) => frame.type === 'stored' && asksAgent(frame.stored.event))
    const waits = hasAsked && frames.some((frame) => frame.type === 'finished' && frame.reason === 'tool_calls')
    return waits ? pendingBelow(sql, replyId).then((below) => encode(frames, below)) : encode(frames)
  }
}
