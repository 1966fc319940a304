/** What a webhook's log says of an attempt, and when the next one is made (contract section 35). */
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { type Answer, attempt } from '../../../src/features/webhooks/attempt.ts'
import { createDeliverer } from '../../../src/features/webhooks/deliverer.ts'
import { newSecret, signedHeaders } from '../../../src/features/webhooks/signature.ts'
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

  const next = async (retryAfterMs: number | null, failures: number, status = 429) => {
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
      attempt: async () => ({ status, error: 'no', retryAfterMs }),
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
  const hours = [2, 5, 10, 24].map((count) => count * 3_600_000)
  const schedule: unknown[] = []
  for (let failures = 0; failures <= 7; failures++) schedule.push(await next(null, failures))
  expect(schedule).toEqual([5000, 300_000, 1_800_000, ...hours, null])
  expect(await next(600_000, 0, 410)).toBeNull()
})

verifies(
  'contract-22.webhook-retries',
  'any 2xx is accepted, nothing else is, and a date that is over postpones nothing',
  async () => {
    for (const status of [200, 204, 299]) expect(await answered(status)).toEqual({ status, error: null })
    for (const status of [199, 300, 404]) expect((await answered(status)).error).toContain(`status ${status}`)
    const past = new Date(Date.now() - 60_000).toUTCString()
    expect((await answered(503, { 'retry-after': past })).retryAfterMs).toBeNull()
  },
)

verifies(
  'contract-22.webhook-retries',
  'of an answer 64 KiB are read, and an attempt that is stopped has no answer',
  async () => {
    let cancelled = 0
    const cancel = () => {
      cancelled += 1
    }
    const message = { id: '1', url, secrets: [], body: '{}' }
    const read = async (take: (bytes: Uint8Array) => undefined) => {
      take(new Uint8Array(64 * 1024))
      expect(cancelled).toBe(0)
      take(new Uint8Array(1))
    }
    const call = async () => ({ status: 200, headers: new Headers(), read, cancel })
    await attempt({ call, failureOf: String }, message, new AbortController().signal)
    expect(cancelled).toBe(1)
    const broken = { call: () => Promise.reject(new Error('broken')), failureOf: String }
    expect((await attempt(broken, message, new AbortController().signal)).error).toContain('broken')
    await expect(attempt(broken, message, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  },
)

verifies('contract-22.webhook-signatures', 'each secret signs id, time and body, the newest first', () => {
  const secrets = [newSecret(), newSecret()]
  const { 'webhook-signature': signature, ...rest } = signedHeaders({ id: 'm', timestamp: 7, body: '{"a":1}' }, secrets)
  const signed = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    expect(key).toHaveLength(32)
    return `v1,${createHmac('sha256', key).update('m.7.{"a":1}').digest('base64')}`
  })
  expect([signature, rest]).toEqual([signed.join(' '), { 'webhook-id': 'm', 'webhook-timestamp': '7' }])
})
