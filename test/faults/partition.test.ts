/** An owner partitioned from PostgreSQL, whatever else it can reach (contract section 10). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
import { follow, type Instance, type Instances, leaseMs, openInstances, say } from '../coordination/instances.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { verifies } from '../verifies.ts'
import { type DatabaseProxy, openProxy } from './database-proxy.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })
const soon = { timeout: 20_000, interval: 20 }
/** Contract section 10: each client's stream ends within two leases; a second for a machine under load. */
const longest = 2 * leaseMs + 1000

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis[Symbol.asyncDispose]())

let instances: Instances
let proxy: DatabaseProxy
let owner: Instance
const open = async (cacheUrl: string | null) => {
  instances = await openInstances(cacheUrl)
  proxy = await openProxy(instances.database.url)
  owner = await instances.open(proxy.url)
}
afterEach(async () => {
  proxy.restore()
  await instances[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

async function outcomeOf(instance: Instance, replyId: string) {
  const reader = follow((await instance.host.open(replyId)) ?? never())
  await reader.done
  return reader.frames.find((frame) => frame.type === 'failed')?.error.code
}
const never = () => {
  throw new Error('It is not there.')
}

describe.each([
  { beside: 'PostgreSQL alone', cacheUrl: () => null },
  { beside: 'Redis, which it still reaches', cacheUrl: () => redis.url },
])('$beside', ({ cacheUrl }) => {
  let other: Instance
  beforeEach(async () => {
    await open(cacheUrl())
    other = await instances.open()
  })

  for (const fault of ['refuse', 'swallow'] as const) {
    verifies('contract-10.self-fencing', `streams end within two leases, here and elsewhere (${fault})`, async () => {
      const talking = await instances.start(owner)
      const silent = await instances.start(owner)
      for (const { call } of [talking, silent]) await call.say(say('so far'))
      const elsewhere = await Promise.all(
        [talking, silent].map(async ({ replyId }) => follow((await other.host.open(replyId)) ?? never())),
      )
      for (const { frames } of elsewhere) await expect.poll(() => frames.length, soon).toBeGreaterThan(2)
      proxy[fault]()
      const begin = performance.now()
      const talk = setInterval(() => void talking.call.say(say('word ')), 50)
      await Promise.allSettled([talking.done, silent.done, ...elsewhere.map(({ done }) => done)])
      clearInterval(talk)
      expect(performance.now() - begin).toBeLessThan(longest)
      for (const { done, call } of [talking, silent]) {
        await expect(done).rejects.toThrow() // cut, not closed
        expect(call.aborted).toBe(true)
      }
      for (const { frames } of elsewhere) {
        expect(frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'instance_lost' } })
      }
      proxy.restore()
      for (const { replyId } of [talking, silent]) {
        await expect.poll(() => outcomeOf(owner, replyId).catch(() => null), soon).toBe('instance_lost')
      }
    })
  }
})

describe('without another instance to judge it', () => {
  beforeEach(() => open(null))

  verifies(
    'contract-10.self-fencing',
    'a silent reply is cut, and stored as internal once the database is back',
    async () => {
      const silent = await instances.start(owner)
      await silent.call.say(say('so far'))
      await expect.poll(() => silent.frames.length, soon).toBeGreaterThan(2)
      const epoch = owner.coordination.epoch()
      proxy.swallow()
      await expect(silent.done).rejects.toThrow()
      expect(silent.call.aborted).toBe(true)
      expect(performance.now()).toBeGreaterThan(owner.coordination.validUntil())
      proxy.restore()
      await expect.poll(() => outcomeOf(owner, silent.replyId).catch(() => null), soon).toBe('internal')
      expect(owner.coordination.epoch()).toBe(epoch)
    },
  )
})
