/** Host names to addresses, one resolution a connection. */
import { lookup as systemLookup } from 'node:dns/promises'
import { createSemaphore } from './semaphore.ts'

/** All addresses of a name, in the order to try them. Rejects with the system's code (ENOTFOUND, …). */
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>

/**
 * The system's resolver blocks one of four threads that files and password hashes need too: names that a model
 * picks, which may never be answered, get two of them at most.
 */
const MODEL_LOOKUPS = 2

export const lookupBySystem: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' })

/** The same lookup, `max` at a time. The signal ends the wait for one's turn, not the lookup. */
export function limitLookups(lookup: Lookup, max = MODEL_LOOKUPS) {
  const semaphore = createSemaphore(max)
  return async (host: string, signal: AbortSignal): ReturnType<Lookup> => {
    using _permit = await semaphore.acquire(signal)
    return await lookup(host)
  }
}
