/**
 * One conformance suite for both adapters, PostgreSQL alone and with Redis (contract sections 4 and 7, design section 4).
 * Where they differ, the difference is asserted.
 */
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Frame } from '../../src/actors/reply/reply-event.ts'
import { type RedisServer, startCluster, startRedis, startSentinel } from '../support/programs/redis.ts'
import { seededRandom } from '../support/random.ts'
import { inTier } from '../support/tier.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'
import { end, follow, type Instance, type Instances, openInstances, type Running, say } from './instances.ts'

/** Everything here takes a second or two; more on a machine under load. */
const soon = { timeout: WAIT_MS, interval: 20 }

interface Adapter {
  name: string
  redis: boolean
  start(): Promise<({ url: string } & AsyncDisposable) | null>
}
const short: readonly Adapter[] = [
  { name: 'PostgreSQL alone', redis: false, start: async () => null },
  { name: 'with Redis', redis: true, start: () => startRedis({ password: 'se:cret/@%' }) },
]
const long: readonly Adapter[] = [
  { name: 'with Sentinels', redis: true, start: () => startSentinel({ password: 'secret' }) },
  { name: 'with a Redis cluster', redis: true, start: () => startCluster({ password: 'secret' }) },
]

const shapes = (frames: readonly Frame[]) => frames.filter(({ type }) => type !== 'state')

async function followed(instance: Instance, { replyId }: Running, after = 0) {
  const reply = await instance.host.open(replyId)
  if (reply === null) throw new Error('It is not there.')
  return follow(reply, after)
}

describe.each(inTier([short, long] as const).flat())('$name', (adapter) => {
  let server: ({ url: string } & AsyncDisposable) | null
  let instances: Instances
  let owner: Instance
  let other: Instance
  beforeAll(async () => {
    server = await adapter.start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    instances = await openInstances(server?.url ?? null)
    owner = await instances.open()
    other = await instances.open()
  })
  afterEach(() => instances[Symbol.asyncDispose]())

  test('readiness reports the state of the cache', async () => {
    await expect.poll(owner.coordination.cache, soon).toBe(adapter.redis ? 'ok' : 'disabled')
  })

  verifies(
    'contract-7.follow',
    'followers on other instances see each frame once, in order, like the owner’s own readers',
    async () => {
      const random = seededRandom(`follow, ${adapter.name}`)
      const running = await instances.start(owner)
      const readers = [await followed(other, running)]
      let said = ''
      for (let word = 0; word < 60; word += 1) {
        said += `${word} `
        await running.call.say(say(`${word} `))
        if (random() < 0.1) readers.push(await followed(other, running, Math.floor(random() * 60)))
        if (random() < 0.2) await new Promise((resolve) => setTimeout(resolve, random() * 30))
      }
      await expect.poll(() => textOf(readers[0]?.frames ?? []), soon).toBe(said)
      await running.call.say(end)
      await running.done
      for (const reader of readers) {
        await reader.done
        const whole = shapes(running.frames)
        expect(shapes(reader.frames)).toEqual(whole.slice(whole.length - shapes(reader.frames).length))
      }
    },
  )

  verifies(
    'contract-7.cancel',
    'a cancel on another instance is stored first, stops the owner, and is answered once settled',
    async () => {
      const running = await instances.start(owner)
      await running.call.say(say('so far'))
      await other.host.cancel(running.session)
      const stored = await instances.sql`select status, finish_reason from messages where id = ${running.replyId}`
      expect([...stored]).toEqual([{ status: 'complete', finish_reason: 'cancelled' }])
      await running.done
      expect(running.call.aborted).toBe(true)
      await expect.poll(() => instances.sql`select 1 from intents`, soon).toHaveLength(0)
    },
  )

  verifies('contract-4.delete', 'a deletion on another instance ends the reply on its owner', async () => {
    const running = await instances.start(owner)
    await running.call.say(say('so far'))
    const reader = await followed(other, running)
    for (const { frames } of [running, reader]) await expect.poll(() => textOf(frames), soon).toBe('so far')
    const [row] = await instances.sql<{ owners: string[] }[]>`
      select delete_sessions(agent_id, array[id]), array[${owner.coordination.id}::uuid]::text[] as owners
        from sessions where id = ${running.session}`
    other.host.forget([running.session], row?.owners ?? [])
    await Promise.all([running.done, reader.done])
    for (const { frames } of [running, reader]) {
      expect(frames.at(-1)).toMatchObject({ seq: 3, type: 'failed', error: { code: 'session_deleted' } })
    }
    expect(running.call.aborted).toBe(true)
  })

  verifies(
    'contract-8.actors',
    'each instance lists the actors of all instances, remote readers included',
    async () => {
      const running = await instances.start(owner)
      const reader = await followed(other, running)
      await expect.poll(() => other.reports.own().followed, soon).toHaveLength(1)
      expect(await owner.reports.all()).toMatchObject([
        { instanceId: owner.coordination.id },
        {
          instanceId: other.coordination.id,
          actors: [],
          followed: [{ sessionId: running.session, subscribers: 1 }],
        },
      ])
      expect(await other.reports.all()).toMatchObject([
        { instanceId: other.coordination.id },
        {
          instanceId: owner.coordination.id,
          actors: [{ sessionId: running.session, state: 'streaming.generating', subscribers: 1 }],
        },
      ])
      await running.call.say(end)
      await reader.done
    },
  )

  verifies(
    'contract-4.fencing',
    'an instance declared lost stores and shows nothing more, and starts a new epoch',
    async () => {
      const running = await instances.start(owner)
      await running.call.say(say('so far'))
      const reader = await followed(other, running)
      for (const { frames } of [running, reader]) await expect.poll(() => textOf(frames), soon).toBe('so far')
      const before = owner.coordination.epoch()
      await instances.sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${owner.coordination.id}`
      await running.call.say(say(' never seen'))
      await expect(running.done).rejects.toThrow()
      await reader.done
      expect(reader.frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'instance_lost' } })
      expect(textOf(reader.frames)).toBe('so far')
      await expect.poll(owner.coordination.epoch, soon).toBe(before + 1)
      const again = await instances.start(owner, running.session)
      await again.call.say(end)
      await again.done
    },
  )

  verifies('contract-4.owner-lost', 'a silent owner is declared lost once, by any surviving instance', async () => {
    const third = await instances.open()
    const running = await instances.start(owner)
    await running.call.say(say('so far'))
    await expect.poll(() => textOf(running.frames), soon).toBe('so far')
    const readers = [await followed(other, running), await followed(third, running)]
    await owner.crash()
    for (const { frames, done } of readers) {
      await done
      expect(textOf(frames)).toBe('so far')
      expect(frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'instance_lost' } })
    }
    const again = await instances.start(third, running.session)
    await again.call.say(end)
    await again.done
  })

  verifies(
    'contract-7.follow',
    'frames are sent only to following instances, which then need not poll the database',
    async () => {
      const running = await instances.start(owner)
      const received: string[] = []
      const tap = adapter.name === 'with Redis' ? new Redis(server?.url ?? '') : null
      await tap?.subscribe(`greenroom:${other.coordination.id}`)
      // What an instance sends to itself, to see whether it gets through, is no frame.
      tap?.on('message', (_, text) => text.includes('"echo"') || received.push(text))
      await running.call.say(say('a'))
      await expect.poll(() => textOf(running.frames), soon).toBe('a')
      expect(received).toEqual([])
      const reader = await followed(other, running)
      await expect.poll(() => textOf(reader.frames), soon).toBe('a')
      await running.call.say(say('b'))
      await expect.poll(() => textOf(reader.frames), soon).toBe('ab')
      // A frame that is stored before its owner knows the follower is read by the follower alone.
      const isReceived = async (text: string) => {
        await running.call.say(say(text))
        return received.some((one) => one.includes('"stored"') && one.includes(`"${text}"`))
      }
      if (tap) await expect.poll(() => isReceived('d'), soon).toBe(true)
      tap?.disconnect()

      // On PostgreSQL alone the follower polls four times a second; with Redis it is notified.
      await expect.poll(() => textOf(reader.frames), soon).toBe(textOf(running.frames))
      const length = textOf(reader.frames).length
      const before = other.reads()
      const third = await instances.start(owner)
      for (let word = 0; word < 100; word += 1) {
        await third.call.say(say('x'))
        await running.call.say(say('c'))
        await expect.poll(() => textOf(reader.frames).length, { ...soon, interval: 5 }).toBeGreaterThan(length + word)
        if (adapter.redis && word === 99) expect(other.reads() - before).toBeLessThan(20)
        if (!adapter.redis && word === 3) break
      }
      if (!adapter.redis) expect(other.reads()).toBeGreaterThan(before + 2)
      for (const one of [running, third]) await one.call.say(end)
      await reader.done
    },
  )
})

const textOf = (frames: readonly Frame[]): string =>
  frames.map((frame) => (frame.type === 'text' ? frame.text : '')).join('')

describe('Redis in trouble in the middle of a reply', () => {
  let redis: RedisServer
  let instances: Instances
  beforeEach(async () => {
    redis = await startRedis()
    instances = await openInstances(redis.url)
  })
  afterEach(async () => {
    await instances[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })
  const troubles = inTier([
    { name: 'killed', begin: () => redis.kill9(), end: () => redis.restart(), degrades: true },
    { name: 'hanging', begin: async () => redis.pause(), end: async () => redis.resume(), degrades: true },
    { name: 'restarted', begin: () => redis.restart(), end: async () => {}, degrades: false },
    { name: 'emptied', begin: () => redis.flush(), end: async () => {}, degrades: false },
  ])
  for (const { name, ...trouble } of troubles) {
    verifies(
      'contract-7.redis-lost',
      `${name}: generation, follow and cancel continue; full speed returns by itself`,
      async () => {
        const owner = await instances.open()
        const other = await instances.open()
        await expect.poll(() => [owner.coordination.cache(), other.coordination.cache()], soon).toEqual(['ok', 'ok'])
        const running = await instances.start(owner)
        const reader = await followed(other, running)
        await running.call.say(say('a'))
        await expect.poll(() => textOf(reader.frames), soon).toBe('a')

        await trouble.begin()
        await running.call.say(say('b'))
        await expect.poll(() => textOf(reader.frames), soon).toBe('ab')
        if (trouble.degrades) {
          await expect.poll(owner.coordination.cache, soon).toBe('degraded')
          const third = await instances.open() // starts without it too
          expect(third.coordination.cache()).toBe('degraded')
          await third.crash()
        }
        const cancelled = await instances.start(owner)
        await other.host.cancel(cancelled.session)
        await cancelled.done
        expect(cancelled.frames.at(-2)).toMatchObject({ type: 'finished', reason: 'cancelled' })
        await running.call.say(say('c'))
        await expect.poll(() => textOf(reader.frames), soon).toBe('abc')

        await trouble.end()
        await expect.poll(() => [owner.coordination.cache(), other.coordination.cache()], soon).toEqual(['ok', 'ok'])
        const isTold = async () => {
          const before = other.reads()
          const length = textOf(reader.frames).length
          await running.call.say(say('d'))
          await expect.poll(() => textOf(reader.frames).length, { ...soon, interval: 5 }).toBeGreaterThan(length)
          return other.reads() === before
        }
        await expect.poll(isTold, soon).toBe(true)
        await running.call.say(end)
        await Promise.all([running.done, reader.done])
        expect(shapes(reader.frames)).toEqual(shapes(running.frames))
      },
    )
  }
})
