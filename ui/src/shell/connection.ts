/** Whether the server answers. Queries pause while it does not (TanStack's onlineManager). */
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const firstWaitMs = 500
const longestWaitMs = 5_000

// The browser knows whether there is a network, not whether Greenroom answers.
onlineManager.setEventListener(() => undefined)

/** The probe that is due. */
let next: ReturnType<typeof setTimeout> | undefined

/** Polls /livez, less and less often, until it answers. */
export function connectionLost(): void {
  if (!onlineManager.isOnline()) return
  onlineManager.setOnline(false)
  probe(firstWaitMs)
}

/** Asks at once, and from now on as often as at first. */
export function tryNow(): void {
  clearTimeout(next)
  probe(0)
}

function probe(waitMs: number): void {
  next = setTimeout(async () => {
    const own = next
    const alive = await fetch('/livez', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (alive) onlineManager.setOnline(true)
    // Unless somebody has asked for one meanwhile.
    else if (next === own) probe(Math.max(firstWaitMs, Math.min(waitMs * 1.5, longestWaitMs)))
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
