/** One log line for each failed reply, with all its ids (contract section 17). Never content. */
import type { ProviderCall } from '../actors/ports/index.ts'
import type { ObservedReply } from '../actors/ports/observer.ts'
import type { PartialObserver } from './observers.ts'

export interface FailureLog {
  warn(details: object, message: string): void
}

/** The ids in every line about a reply; provider and model are those that were asked last. */
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
 * A reply of a deleted session has not failed, nor has one whose client left. Lost replies are logged by the instance
 * that settles them, failed titles by their job.
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
        retried: (retry) => log.warn({ ...idsOf(reply, asked), ...retry }, 'A provider call failed and is retried.'),
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
