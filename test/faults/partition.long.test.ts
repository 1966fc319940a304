/** An owner partitioned from PostgreSQL, from Redis or from both (contract section 10). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import {
  end,
  follow,
  type Instance,
  type Instances,
  leaseMs,
  openInstances,
  type Running,
  say,
} from '../coordination/instances.ts'
import { openWire, type Wire } from '../support/network/wire.ts'
import { type RedisServer, startRedis } from '../support/programs/redis.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'
import { type DatabaseProxy, openProxy } from './database/database-proxy.ts'

const soon = { timeout: WAIT_MS, interval: 20 }
/** Contract section 10: each client's stream ends within two leases; a second for a machine under load. */
const longest = 2 * leaseMs + 1000

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis[Symbol.asyncDispose]())

let instances: Instances
let proxy: DatabaseProxy
let wire: Wire
let owner: Instance
const open = async (hasRedis: boolean) => {
  instances = await openInstances(hasRedis ? redis.url : null)
  proxy = await openProxy(instances.database.url)
  wire = await openWire({ host: '127.0.0.1', port: redis.port })
  owner = await instances.open(proxy.url, hasRedis ? `redis://127.0.0.1:${wire.port}` : null)
}
afterEach(async () => {
  proxy.restore()
  wire.pass()
  await instances[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await wire[Symbol.asyncDispose]()
})

async function outcomeOf(instance: Instance, replyId: string) {
  const reader = follow((await instance.host.open(replyId)) ?? never())
  await reader.done
  return reader.frames.find((frame) => frame.type === 'failed')?.error.code
}
const never = () => {
  throw new Error('It is not there.')
}

/** A reply that goes on talking and one that says nothing more, each read on its owner and on another instance. */
async function talkingAndSilent(other: Instance) {
  const talking = await instances.start(owner)
  const silent = await instances.start(owner)
  for (const { call } of [talking, silent]) await call.say(say('so far'))
  const elsewhere = await Promise.all(
    [talking, silent].map(async ({ replyId }) => follow((await other.host.open(replyId)) ?? never())),
  )
  for (const { frames } of elsewhere) await expect.poll(() => frames.length, soon).toBeGreaterThan(2)
  return { talking, silent, elsewhere }
}

function keepTalking({ call }: Running): Disposable {
  const timer = setInterval(() => void call.say(say('word ')), 50)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const faults = {
  refuse: { database: () => proxy.refuse(), redis: () => wire.refuse() },
  swallow: { database: () => proxy.swallow(), redis: () => wire.blackhole() },
}

describe.each([
  { cut: 'PostgreSQL, without Redis', hasRedis: false, isRedisCut: false },
  { cut: 'PostgreSQL, not from Redis', hasRedis: true, isRedisCut: false },
  { cut: 'PostgreSQL and Redis', hasRedis: true, isRedisCut: true },
])('cut off from $cut', ({ hasRedis, isRedisCut }) => {
  let other: Instance
  beforeEach(async () => {
    await open(hasRedis)
    other = await instances.open()
  })

  for (const [name, fault] of Object.entries(faults)) {
    verifies('contract-10.self-fencing', `streams end within two leases, here and elsewhere (${name})`, async () => {
      const { talking, silent, elsewhere } = await talkingAndSilent(other)
      fault.database()
      if (isRedisCut) fault.redis()
      const begin = performance.now()
      using _talk = keepTalking(talking)
      await Promise.allSettled([talking.done, silent.done, ...elsewhere.map(({ done }) => done)])
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

describe('cut off from PostgreSQL, and late to look at its lease', () => {
  beforeEach(() => open(true))

  verifies('contract-10.self-fencing', 'followers are told nothing once the lease is over', async () => {
    const other = await instances.open()
    const { call, replyId } = await instances.start(owner)
    await call.say(say('so far'))
    owner.host.owned.leaseExpired = () => {} // so its log stays open
    const { info } = (await other.host.open(replyId)) ?? never()
    using following = other.coordination.exchange.follow(info, () => {})
    await expect.poll(following.isLive, soon).toBe(true)
    proxy.refuse()
    await expect.poll(() => performance.now() > owner.coordination.validUntil(), soon).toBe(true)
    await expect.poll(following.isLive, soon).toBe(false)
    expect(owner.host.owned.placeOf(replyId)).not.toBeNull()
  })
})

describe('cut off from Redis alone', () => {
  beforeEach(() => open(true))

  for (const [name, fault] of Object.entries(faults)) {
    verifies(
      ['contract-10.self-fencing', 'contract-7.redis-lost'],
      `nothing breaks off, and streams end with their reply, here and elsewhere (${name})`,
      async () => {
        const { talking, silent, elsewhere } = await talkingAndSilent(await instances.open())
        fault.redis()
        const cutAt = performance.now()
        {
          using _talk = keepTalking(talking)
          await expect.poll(() => owner.coordination.validUntil(), soon).toBeGreaterThan(cutAt + 3 * leaseMs)
        }
        const begin = performance.now()
        for (const { call } of [talking, silent]) await call.say(end)
        await Promise.all([talking.done, silent.done, ...elsewhere.map(({ done }) => done)])
        expect(performance.now() - begin).toBeLessThan(longest)
        for (const [n, { frames, shapes }] of [talking, silent].entries()) {
          expect(frames.at(-2)).toMatchObject({ type: 'finished', reason: 'stop' })
          expect(elsewhere[n]?.shapes()).toEqual(shapes())
        }
      },
    )
  }
})

describe('without another instance to judge it', () => {
  beforeEach(() => open(false))

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
