/** Gives back what a stateless reply holds of its limits however its work ends (contract section 23). */
import { nothingUsed } from '../../../actors/generate/usage-tally.ts'
import type { ObservedOutcome, ReplyObserver } from '../../../actors/ports/observer.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import type { StatelessLimits } from './stateless-limits.ts'

/**
 * Takes its places, then does `work`, which tells `observer` how the reply ended: that gives them back. Work that fails before
 * it has told so, and an answer of the database that was lost, are an end too. `begin` begins to observe the reply.
 */
export async function inItsPlaces<T>(
  { take, counted }: Pick<StatelessLimits, 'take' | 'counted'>,
  begin: () => ReplyObserver,
  work: (observer: ReplyObserver) => Promise<T>,
): Promise<T> {
  const fail = async (observer: ReplyObserver, outcome: ObservedOutcome, error: unknown): Promise<never> => {
    const words = { code: 'internal', message: 'The reply could not be generated.', detail: `${error}` } as const
    observer.on({ type: 'ended', outcome, usage: nothingUsed, error: words })
    await counted()
    throw error
  }
  // What is over its limits has taken nothing.
  await take().catch((error: unknown) =>
    error instanceof HttpError ? reject(error) : fail(begin(), 'not_stored', error),
  )
  const observer = begin()
  let isTold = false
  const watched: ReplyObserver = {
    ...observer,
    on(event) {
      isTold ||= event.type === 'ended'
      observer.on(event)
    },
  }
  return await work(watched).catch((error: unknown) => (isTold ? reject(error) : fail(observer, 'internal', error)))
}

function reject(error: unknown): never {
  throw error
}
