/** Resolves host names to addresses, once for each connection. */
import { lookup as systemLookup } from 'node:dns/promises'
import { createSemaphore } from '../../async/semaphore.ts'

/** All addresses of a host name, in the order to try them. Rejects with the system's code (ENOTFOUND, …). */
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>

/**
 * The system's resolver blocks one of the four threads that files and password hashes need too. Names chosen by a
 * model may never resolve, so they get at most two of them.
 */
const MODEL_LOOKUPS = 2

export const lookupBySystem: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' })

/** The same lookup, at most `max` at a time. The signal ends the wait for a permit, not the lookup itself. */
export function limitLookups(lookup: Lookup, max = MODEL_LOOKUPS) {
  const semaphore = createSemaphore(max)
  return async (host: string, signal: AbortSignal): ReturnType<Lookup> => {
    using _permit = await semaphore.acquire(signal)
    return await lookup(host)
  }
}
