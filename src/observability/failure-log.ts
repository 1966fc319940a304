/** Logs a line for each failed reply, with all its ids (contract section 17). Never content. */
import type { ProviderCall, ProviderFailure } from '../actors/ports/index.ts'
import type { ObservedReply } from '../actors/ports/observer.ts'
import type { PartialObserver } from './observers.ts'

export interface FailureLog {
  warn(details: object, message: string): void
}

/** Collects the ids for a line about a reply. Provider and model are those of the last call. */
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
 * Creates the observer that logs failures. A reply of a deleted session has not failed, nor has one whose client left. Lost
 * replies are logged by the instance that settles them, failed titles by their job.
 */
export const logFailures = (log: FailureLog): PartialObserver => ({
  begin(reply) {
    const since = performance.now()
    let attempts = 0
    let asked: Asked = reply
    const detailsOf = ({ type, ...failure }: { type: string } & ProviderFailure) => ({
      ...idsOf(reply, asked),
      ...failure,
    })
    return {
      modelCall: () => ({
        on(event) {
          if (event.type === 'called') {
            attempts += 1
            asked = event
          } else if (event.type === 'retried') {
            log.warn(detailsOf(event), 'A provider call failed and is retried.')
          } else if (event.type === 'fell_back') {
            log.warn(detailsOf(event), 'A provider failed and the next one is asked.')
          }
        },
      }),
      on(event) {
        if (event.type !== 'ended') return
        const { error } = event
        if (error === null || error.code === 'session_deleted' || reply.purpose !== 'reply') return
        const { code, detail } = error
        const ms = Math.round(performance.now() - since)
        log.warn({ ...idsOf(reply, asked), code, detail, attempts, ms }, 'A reply failed.')
      },
    }
  },
})
