/**
 * Contract sections 4 ("Reconnect") and 7: a reply that is read elsewhere shows what its own log shows, at every moment,
 * for every id, while its rows come, are folded or go, and whatever becomes of what its owner says.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import type { ReplyEvent, StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { follow } from '../scene.ts'
import { at, openScene, outcomes, poll, turn, usage, waitLimitMs } from './remote-reply-scene.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const call: ReplyEvent = { type: 'tool_call', id: 'c', name: 'n', arguments: '{}', startedAt: at(0) }
const result: ReplyEvent = { type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 }
const step = fc.oneof(
  { weight: 5, arbitrary: fc.string({ minLength: 1 }).map((text) => ({ type: 'text', text }) as const) },
  { weight: 2, arbitrary: fc.constantFrom(call, result) },
  { weight: 9, arbitrary: fc.constantFrom('store', 'store', 'poll', 'say', 'say', 'say twice', 'lose', 'swap') },
  { weight: 2, arbitrary: fc.boolean().map((isLive) => ({ isLive })) },
  { weight: 4, arbitrary: fc.record({ readFrom: fc.integer({ min: 0, max: 30 }) }) },
)

verifies(
  ['contract-4.resume', 'contract-7.follow'],
  'readers here and there see the same, whenever they come, whatever is lost, doubled or late between them',
  async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.constantFrom(...outcomes, 'deleted' as const),
      fc.constantFrom(1, 8),
      fc.boolean(),
      async (steps, how, firstSeq, includeUsage) => {
        const scene = openScene(firstSeq, includeUsage)
        const pairs: { after: number; here: ReturnType<typeof follow>; there: ReturnType<typeof follow> }[] = []
        const compare = async (after: number) => {
          const there = follow(await scene.open(), after)
          pairs.push({ after, here: follow(scene.log, after), there })
          await turn()
        }
        for (const one of steps) {
          if (one === 'store') await scene.store()
          else if (one === 'poll') await poll()
          else if (one === 'say') await scene.say(scene.onTheWay.shift())
          else if (one === 'say twice') await scene.say(scene.onTheWay[0])
          else if (one === 'lose') scene.onTheWay.shift()
          else if (one === 'swap') scene.onTheWay.reverse()
          else if (typeof one === 'string') throw new Error(one)
          else if ('isLive' in one) scene.state.isLive = one.isLive
          else if ('readFrom' in one) await compare(one.readFrom)
          else scene.log.push([one])
        }
        scene.state.isLive = false
        if (how === 'deleted') {
          await poll() // the id of the last chunk is the last one sent plus one: both have been sent the same
          scene.remove()
        } else {
          await scene.settle(how)
          for (let after = 0; after < firstSeq + steps.length + 3; after += 1) await compare(after)
        }
        await poll()
        await Promise.all(pairs.flatMap(({ here, there }) => [here.done, there.done]))
        for (const { after, here, there } of pairs) expect(there.frames, `after ${after}`).toEqual(here.frames)
        expect([scene.listeners.size, vi.getTimerCount(), scene.remote.followed()]).toEqual([0, 0, []])
      },
    )
    await fc.assert(property, { numRuns: samples(100, 300) })
  },
)

verifies(
  'contract-7.follow',
  'while its owner speaks nobody asks the database; what it missed is read there',
  async () => {
    const scene = openScene()
    const reader = follow(await scene.open())
    await turn()
    scene.state.isLive = true
    const before = scene.state.reads
    for (const text of ['a', 'b', 'c', 'd']) {
      scene.log.push([{ type: 'text', text }])
      await scene.store()
      if (text !== 'b') await scene.say(scene.onTheWay.shift())
      else scene.onTheWay.shift()
      await poll()
      expect(reader.shapes().at(-1)).toBe(text === 'b' ? 'a' : text)
    }
    expect(reader.shapes()).toEqual(['started', 'a', 'b', 'c', 'd'])
    expect(scene.state.reads).toBe(before + 1)
    // A heartbeat says how far the reply is: the last words need no next one to be missed.
    scene.log.push([{ type: 'text', text: 'e' }])
    await scene.store()
    await scene.say({ after: scene.log.place(), events: [] })
    expect(reader.shapes().at(-1)).toBe('e')
    await scene.settle({ type: 'finished', reason: 'stop', usage })
    await scene.say('ended')
    await reader.done
    expect(reader.shapes().slice(-2)).toEqual(['finished', 'done'])
  },
)

test('all who read a reply here share what is read of it', async () => {
  const scene = openScene()
  const readers = []
  for (let count = 0; count < 20; count += 1) readers.push(follow(await scene.open()))
  await turn()
  expect(scene.remote.followed()).toEqual([{ sessionId: 's', subscribers: 20 }])
  expect([scene.listeners.size, vi.getTimerCount()]).toEqual([1, 1])
  const before = scene.state.reads
  await poll()
  expect(scene.state.reads).toBe(before + 1)
  await scene.settle({ type: 'finished', reason: 'stop', usage })
  await poll()
  for (const reader of readers) await reader.done
  expect(new Set(readers.map(({ shapes }) => shapes().join())).size).toBe(1)
})

test('whoever saw more on the owner’s instance gets nothing twice', async () => {
  const scene = openScene()
  const early = follow(await scene.open())
  await turn()
  scene.log.push([{ type: 'text', text: 'a' }])
  await scene.store()
  const late = follow(await scene.open(), 2) // the early one has not been told of 2 yet
  await turn()
  scene.log.push([{ type: 'text', text: 'b' }])
  await scene.settle({ type: 'finished', reason: 'stop', usage })
  await poll()
  await Promise.all([early.done, late.done])
  expect(late.shapes()).toEqual(['b', 'finished', 'done'])
  expect(early.shapes()).toEqual(['started', 'a', 'b', 'finished', 'done'])
})

verifies('contract-4.delete', 'a follower elsewhere ends with session_deleted, the id last sent plus one', async () => {
  const scene = openScene(7)
  scene.log.push([{ type: 'text', text: 'a' }])
  await scene.store()
  const [whole, ahead] = [follow(await scene.open()), follow(await scene.open(), 99)]
  await turn()
  scene.remove()
  await poll()
  await Promise.all([whole.done, ahead.done])
  for (const { frames } of [whole, ahead]) {
    expect(frames.at(-1)).toMatchObject({ seq: 9, type: 'failed', error: { code: 'session_deleted' } })
  }
})

test('followers that leave ask no more and leave no timer behind', async () => {
  const scene = openScene()
  const leaving = new AbortController()
  const reply = await scene.open()
  const reading = reply.read(0, leaving.signal, () => undefined)
  await turn()
  expect([vi.getTimerCount(), scene.listeners.size]).toEqual([1, 1])
  leaving.abort()
  await reading
  await turn()
  expect([vi.getTimerCount(), scene.listeners.size]).toEqual([0, 0])
})

test('a database that comes back in time goes unnoticed; one that stays away breaks the stream off', async () => {
  const scene = openScene()
  const reader = follow(await scene.open())
  await turn()
  scene.log.push([{ type: 'text', text: 'a' }])
  await scene.store()
  scene.state.away = true
  for (let ms = 0; ms < waitLimitMs; ms += 250) await poll()
  scene.state.away = false
  await poll()
  expect(reader.shapes()).toEqual(['started', 'a'])
  scene.state.away = true
  const broken = expect(reader.done).rejects.toThrow('cannot be stored at the moment')
  for (let ms = 0; ms <= waitLimitMs + 250; ms += 250) await poll()
  await broken
  scene.state.away = false
  expect(follow(await scene.open()).shapes()).toEqual(['started', 'a'])
})

verifies(
  'contract-10.self-fencing',
  'an owner that goes on announcing is not believed for long: the outcome is read within the limit',
  async () => {
    const scene = openScene()
    const reader = follow(await scene.open())
    await turn()
    scene.state.isLive = true // heartbeats of an owner that is cut off from the database
    await scene.settle({ type: 'failed', error: { code: 'instance_lost', message: 'm', detail: 'd' }, usage })
    for (let ms = 0; ms <= waitLimitMs / 2; ms += 250) await poll()
    await reader.done
    expect(reader.shapes()).toEqual(['started', 'failed'])
  },
)

verifies(
  'contract-10.durability',
  'an event that does not join on is not shown but awaited, with a limit',
  async () => {
    const scene = openScene()
    const reader = follow(await scene.open())
    await turn()
    const lost = (seq: number): StoredEvent => ({ seq, part: 0, event: { type: 'text', text: `${seq}` } })
    // From the owner, with a place that joins on and events that do not; then from the database.
    await scene.say({ after: { seq: 1, part: 0 }, events: [lost(2), lost(5)] })
    scene.rows.push(lost(2), lost(5))
    await poll()
    expect(reader.shapes()).toEqual(['started', '2'])
    scene.rows.splice(1, 0, lost(3), lost(4))
    await poll()
    expect(reader.shapes()).toEqual(['started', '2', '3', '4', '5'])
    // What never comes breaks the stream off.
    scene.rows.push(lost(9))
    const broken = expect(reader.done).rejects.toThrow()
    for (let ms = 0; ms <= waitLimitMs + 500; ms += 250) await poll()
    await broken
    expect(reader.shapes().at(-1)).toBe('5')
  },
)

verifies(
  'contract-21.boundary',
  'whoever opened a reply before it was handed over, and reads it when nobody follows it here, is broken off',
  async () => {
    const { log, remote, store } = openScene()
    log.push([{ type: 'text', text: 'a' }])
    await store()
    remote.goOn(log.handOver(), log.place())
    await turn()
    const { done, shapes } = follow(log)
    await expect(done).rejects.toThrow(StreamCut)
    expect([shapes(), remote.followed()]).toEqual([['started', 'a'], []])
  },
)

verifies(
  'contract-21.boundary',
  'who opened it after that reads on, though its last reader leaves before',
  async () => {
    const { log, remote, store, open, settle } = openScene()
    log.push([{ type: 'text', text: 'a' }])
    await store()
    const leaving = new AbortController()
    const reading = log.read(0, leaving.signal, () => undefined)
    remote.goOn(log.handOver(), log.place())
    const opened = await open()
    leaving.abort()
    await reading
    await poll()
    const { done, shapes } = follow(opened)
    await settle({ type: 'finished', reason: 'stop', usage })
    await poll()
    await done
    expect(shapes()).toEqual(['started', 'a', 'finished', 'done'])
  },
)

test('a reply whose session was deleted before it was handed over is not followed', async () => {
  const { log, remote } = openScene()
  log.drop()
  remote.goOn(log.handOver(), log.place())
  await turn()
  expect(remote.followed()).toEqual([])
})
