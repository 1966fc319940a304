/**
 * Finds what a sent message is answered with: its reply, or the place in the queue where it waits for it (contract
 * section 22).
 */
import type { FastifyReply } from 'fastify'
import type { Reply } from '../../../actors/reply/frame-log.ts'
import type { ReplyError } from '../../../actors/reply/reply-event.ts'
import type { Queued, Sent } from '../../../actors/session/send.ts'
import { type NameOf, noRetry, refuse } from '../../../http/sending/refusals.ts'
import { HttpError } from '../../../http/server/http-error.ts'

export interface SentAnswer {
  source: Reply | Queued
  /** Tells that the client has left. Call when the client leaves before the end. */
  onLeft(): void
}

/** Tells the place in the queue, if the message has one. Throws why it was not taken. */
export function sentAnswer(sent: Sent, reply: FastifyReply, nameOf?: NameOf): SentAnswer {
  if (sent.outcome === 'started') return { source: sent.reply, onLeft: sent.requesterLost }
  if (sent.outcome === 'joined') return { source: sent.reply, onLeft: () => {} }
  // Only …/actions decides in part, and answers that itself.
  if (sent.outcome === 'decided_in_part') return refuse('not_waiting')
  if (sent.outcome !== 'queued') return refuse(sent.outcome, nameOf)
  if (sent.position > 0) reply.header('x-queue-position', sent.position)
  return { source: sent, onLeft: sent.requesterLost }
}

export const isTaken = ({ outcome }: Sent): boolean =>
  outcome === 'started' || outcome === 'joined' || outcome === 'queued'

export const replyIdOf = (source: Reply | Queued): string => ('begun' in source ? source.replyId : source.info.id)

const says = {
  removed: { code: 'dequeued', message: 'The message was taken out of the queue.' },
  deleted: { code: 'session_deleted', message: 'The session was deleted.' },
} as const satisfies Record<string, Pick<ReplyError, 'code' | 'message'>>

/** Returns why the reply to a queued message never begins. */
export const neverBegun = (why: keyof typeof says): ReplyError => ({ ...says[why], detail: says[why].message })

/** Refuses likewise for a request without streaming. `failed` throws what a failed reply is answered with. */
export function refuseNeverBegun(why: keyof typeof says, failed: (error: ReplyError) => never): never {
  if (why === 'deleted') return failed(neverBegun(why))
  throw new HttpError(409, says.removed.message, noRetry)
}
