/** One line for each failed reply, with all that finds it again (contract section 17). Never content. */
import type { ObservedReply, ProviderCall } from '../actors/observer.ts'
import type { PartialObserver } from './observers.ts'

export interface FailureLog {
  warn(details: object, message: string): void
}

/** What every line about a reply says of it; provider and model are those that were asked last. */
function idsOf({ id, sessionId, agentId, origin }: ObservedReply, { providerId, model }: Asked) {
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

type Asked = Pick<ProviderCall, 'providerId' | 'model'>

/**
 * A deleted session's reply has not failed, nor has one whose reader left. Whoever declares a reply lost logs that; the
 * job logs a title that failed.
 */
export const logFailures = (log: FailureLog): PartialObserver => ({
  begin(reply) {
    const since = performance.now()
    let attempts = 0
    let asked: Asked = reply
    return {
      modelCall: () => ({
        called(call) {
          attempts += 1
          asked = call
        },
        retried: (retry) => log.warn({ ...idsOf(reply, asked), ...retry }, 'A provider call failed and is made again.'),
        fellBack: (failure) =>
          log.warn({ ...idsOf(reply, asked), ...failure }, 'A provider failed and the next one is asked.'),
      }),
      ended({ error }) {
        if (error === null || error.code === 'session_deleted' || reply.purpose === 'title') return
        const { code, detail } = error
        const ms = Math.round(performance.now() - since)
        log.warn({ ...idsOf(reply, asked), code, detail, attempts, ms }, 'A reply failed.')
      },
    }
  },
})
