/** Whether the server answers. Queries wait while it does not, and go on when it does (TanStack's onlineManager). */
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const firstWaitMs = 500
const longestWaitMs = 5_000

// The browser knows whether there is a network, not whether Greenroom answers.
onlineManager.setEventListener(() => undefined)

/** Asks /livez, less and less often, until it is answered. */
export function connectionLost(): void {
  if (!onlineManager.isOnline()) return
  onlineManager.setOnline(false)
  probe(firstWaitMs)
}

function probe(waitMs: number): void {
  setTimeout(async () => {
    const alive = await fetch('/livez', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (alive) onlineManager.setOnline(true)
    else probe(Math.min(waitMs * 1.5, longestWaitMs))
  }, waitMs)
}

/** Resolves after a while, earlier when the server is heard of again. */
export async function reachableWithin(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const unsubscribe = onlineManager.subscribe((online) => online && resolve())
  signal?.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
  unsubscribe()
}

export const useReachable = (): boolean =>
  useSyncExternalStore(
    (onChange) => onlineManager.subscribe(onChange),
    () => onlineManager.isOnline(),
  )
