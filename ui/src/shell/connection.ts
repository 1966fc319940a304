/** Whether the server answers. Queries pause while it does not (TanStack's onlineManager). */
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const firstWaitMs = 500
const longestWaitMs = 5_000

// The browser knows whether there is a network, not whether Greenroom answers.
onlineManager.setEventListener(() => undefined)

/** Polls /livez, less and less often, until it answers. */
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

/** Resolves after `ms`, or as soon as the server answers again; `ms` null: then alone. */
export async function reachableWithin(ms: number | null, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // No timer rather than a very long one: a timer takes `Infinity` for 0.
  const timer = ms === null ? undefined : setTimeout(resolve, ms)
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
