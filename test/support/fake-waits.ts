import { vi } from 'vitest'

/**
 * Fakes the waits whose length is meant alone. The server of a test shares its process: what it has set a timer for
 * meanwhile would never come, since a faked timer is lost with its clock. Gives the way back.
 */
export function fakeWaits(isMeant: (ms: number) => boolean): () => void {
  const { setTimeout: real, clearTimeout: clearReal } = globalThis
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { setTimeout: fake, clearTimeout: clearFake } = globalThis
  const faked = new Set<unknown>()
  vi.stubGlobal('setTimeout', (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
    if (!isMeant(ms)) return real(run, ms, ...given)
    const timer = fake(run, ms, ...given)
    faked.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer?: NodeJS.Timeout) => (faked.has(timer) ? clearFake : clearReal)(timer))
  return () => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  }
}
