/**
 * Lookups of names that a model chose. They may never resolve, and each holds one of the process's threads for as long
 * as the system's resolver tries.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createSemaphore } from '../../../async/semaphore.ts'
import type { Lookup } from '../outbound.ts'

/** The party that a call is for. A connection is opened by the first request that needs it, so it is that one's. */
const asking = new AsyncLocalStorage<string>()

/** Makes a call for this party: the lookups that it needs go in turns by it. */
export const askedBy = <T>(of: string, call: () => T): T => asking.run(of, call)

/**
 * Returns the lookups for models at a time. Node.js gives lookups half of its threads at most, and providers' names need
 * one of those.
 */
function mostAtOnce(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4
  return Math.max(1, Math.floor((threads + 1) / 2) - 1)
}

/** Limits a lookup. Each party has one at a time, and those who wait have turns. */
export function limitLookups(lookup: Lookup): (host: string, signal: AbortSignal) => ReturnType<Lookup> {
  const semaphore = createSemaphore(mostAtOnce(), { each: 1 })
  return async (host, signal) => {
    using _permit = await semaphore.acquire(signal, asking.getStore())
    return await lookup(host)
  }
}
