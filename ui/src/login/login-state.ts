/** A login that expired during work: calls wait here for the next login. */
import { useSyncExternalStore } from 'react'

let waiting = new Set<() => void>()
const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

/** Opens the login over the page; resolves when it succeeded. Rejects when the caller gives up. */
export function loginAgain(signal: AbortSignal | null | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  waiting.add(resolve)
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  changed()
  return promise
}

/** Resumes all waiting calls. */
export function loggedIn(): void {
  const resumed = waiting
  waiting = new Set()
  for (const resume of resumed) resume()
  changed()
}

/** Returns whether calls wait for a login. */
export const useLoginEnded = (): boolean =>
  useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    () => waiting.size > 0,
  )
