/** A message that is not admitted at once: it waits, or it goes before all that wait. */

import { cancelAndWait } from '../../actors/session/cancel.ts'
import type { WaitingMessage } from '../../actors/session/extension.ts'
import type { Queued, Refusal } from '../../actors/session/send.ts'
import { type BeginningHost, tendQueues } from './begin-queued.ts'
import { AnsweredElsewhere } from './waiting-requests.ts'

/** The longest wait of an interrupting message for its begin (contract section 4). */
const INTERRUPT_MS = 2000

export type Place = WaitingMessage

/** Returns a message that waits, as its sender sees it. `joined`: another request has sent it. */
export function queuedAs(
  { host, options, waiting }: BeginningHost,
  { replyId, sessionId, position, rate }: Place,
  joined: boolean,
): Queued {
  return {
    outcome: 'queued',
    replyId,
    position,
    rate,
    async begun(signal) {
      const state = await waiting.wait(replyId, sessionId, signal)
      if (state !== 'begun') return state
      await host.admitting.get(replyId)?.over
      const here = host.byReply.get(replyId)
      // It has begun elsewhere, and this instance stops: its client goes on there.
      if (!here && host.draining) throw new AnsweredElsewhere()
      if (here && !joined && !signal.aborted) here.reply.requesterLost = false
      return (await host.open(replyId)) ?? 'deleted'
    },
    requesterLost() {
      if (joined) return
      const here = host.byReply.get(replyId)
      if (here) here.reply.requesterLost = true
      else void options.store.requesterLost(replyId).catch(() => {})
    },
  }
}

/** Cancels the running reply, whose end begins this message. One that has not begun in time is taken back. */
export async function interruptQueue(
  queue: BeginningHost,
  queued: Queued,
  sessionId: string,
): Promise<Queued | { outcome: Refusal }> {
  const { host, options, waiting } = queue
  const late = AbortSignal.timeout(INTERRUPT_MS)
  const { replyId } = queued
  // The running reply may have ended in the meantime, so that the reply to this very message runs: that one is not cancelled.
  await cancelAndWait(host, sessionId, { but: replyId })
  // The reply's owner may be draining, and begin nothing.
  await tendQueues(queue).catch(() => {})
  try {
    if ((await waiting.wait(replyId, sessionId, late)) !== null) return queued
  } catch (error) {
    // This instance stops, and the message is stored: whoever waits for its begin is told so.
    if (error instanceof AnsweredElsewhere) return queued
    throw error
  }
  const removed = await options.store.remove(sessionId, replyId)
  return removed.length > 0 ? { outcome: 'busy' } : queued
}
