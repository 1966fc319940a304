/** One log line for each failed reply, with all its ids (contract section 17). Never content. */
import type { ObservedReply } from '../actors/observer.ts'
import type { PartialObserver } from './observers.ts'

export interface FailureLog {
  warn(details: object, message: string): void
}

/** The ids in every line about a reply. */
function idsOf({ id, sessionId, agentId, providerId, model, origin }: ObservedReply) {
  return {
    reqId: origin?.requestId ?? null,
    sessionId,
    replyId: id,
    agentId,
    providerId,
    model,
    ...(origin?.traceId && { traceId: origin.traceId }),
  }
}

/**
 * A reply of a deleted session has not failed, nor has one whose client left. Lost replies are logged by the instance
 * that settles them, failed titles by their job.
 */
export const logFailures = (log: FailureLog): PartialObserver => ({
  begin(reply) {
    const since = performance.now()
    let attempts = 0
    return {
      modelCall: () => ({
        called() {
          attempts += 1
        },
        retried: (retry) => log.warn({ ...idsOf(reply), ...retry }, 'A provider call failed and is made again.'),
      }),
      ended({ error }) {
        if (error === null || error.code === 'session_deleted' || reply.purpose === 'title') return
        const { code, detail } = error
        const ms = Math.round(performance.now() - since)
        log.warn({ ...idsOf(reply), code, detail, attempts, ms }, 'A reply failed.')
      },
    }
  },
})
