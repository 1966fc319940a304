/** What a webhook's log says of an attempt, and when the next one is made (contract section 35). */
import { expect } from 'vitest'
import { type Answer, attempt } from '../../../src/features/webhooks/attempt.ts'
import { createDeliverer } from '../../../src/features/webhooks/deliverer.ts'
import type { ClaimedDelivery } from '../../../src/features/webhooks/store/deliveries.ts'
import { verifies } from '../../verifies.ts'

const url = 'https://a.test/hooks/x?token=secret'

const answered = (status: number, headers: Record<string, string> = {}): Promise<Answer> => {
  const call = async () => ({ status, headers: new Headers(headers), read: async () => {}, cancel() {} })
  const message = { id: '1', url, secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], body: '{}' }
  return attempt({ call, failureOf: String }, message, new AbortController().signal)
}

verifies('contract-35.receivers', 'the error says where a redirect leads, without its query', async () => {
  const errorOf = async (location: string) => (await answered(301, { location })).error
  const to = (place: string) => `The receiver answered with status 301, which leads to ${place}.`
  expect(await errorOf('https://b.test/new?key=1#x')).toBe(to('https://b.test/new'))
  expect(await errorOf('/moved?key=1')).toBe(to('https://a.test/moved'))
  expect(await errorOf('https://user:pass@b.test/')).toBe(to('https://b.test/'))
  expect((await answered(500, { location: '/x' })).error).toBe('The receiver answered with status 500.')
})

verifies('contract-35.receivers', 'Retry-After postpones the next attempt, an hour at most', async () => {
  const later = async (value: string) => (await answered(429, { 'retry-after': value })).retryAfterMs
  expect([await later('600'), await later('0'), await later('7200'), await later('soon')]).toEqual([
    600_000,
    null,
    3_600_000,
    null,
  ])
  expect(await later(new Date(Date.now() + 86_400_000).toUTCString())).toBe(3_600_000)

  const next = async (retryAfterMs: number | null, failures: number) => {
    const due: ClaimedDelivery = {
      id: '1',
      webhookId: 'w',
      url,
      secrets: [],
      body: '{}',
      claimedUntil: '',
      owner: null,
      failures,
    }
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const claims = [[due]]
    const deliverer = createDeliverer({
      claim: async () => claims.pop() ?? [],
      store: async (_, outcome) => resolve('retryMs' in outcome && outcome.retryMs),
      disable: async () => {},
      attempt: async () => ({ status: 429, error: 'no', retryAfterMs }),
      openSecret: (sealed) => sealed,
      log: { warn() {} },
    })
    await deliverer.run()
    const retryMs = await promise
    await deliverer.stop()
    return retryMs
  }
  expect([
    await next(600_000, 0),
    await next(null, 0),
    await next(1000, 0),
    await next(600_000, 2),
    await next(600_000, 9),
  ]).toEqual([600_000, 5000, 5000, 1_800_000, null])
})
