/**
 * Contract section 4, "Reconnect": a reply that is read from the database shows what its log shows, at every moment,
 * for every id, while its rows come, are folded or go.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Journal, ReplyInfo, StoredReply } from '../../src/actors/ports.ts'
import { readStored } from '../../src/actors/remote-reply.ts'
import type { Frame, Outcome, ReplyEvent, StoredEvent } from '../../src/actors/reply-event.ts'
import { createReplyLog } from '../../src/actors/reply-log.ts'
import { verifies } from '../verifies.ts'

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`
const usage = { promptTokens: 1, completionTokens: 2, estimated: false }
const outcomes: Outcome[] = [
  { type: 'finished', reason: 'stop', usage },
  { type: 'finished', reason: 'cancelled', usage },
  { type: 'failed', error: { code: 'provider_error', message: 'm', detail: 'd' }, usage },
]
const restState = (outcome: Outcome) =>
  outcome.type === 'failed' ? 'error' : outcome.reason === 'cancelled' ? 'cancelled' : 'complete'

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** A follower asks the database every 250 ms; only its clock is ours. */
const poll = async () => {
  await vi.advanceTimersByTimeAsync(250)
  await turn()
}
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A log and the table that its frames are stored in, as `Journal.read` gives it. */
function storedReply(firstSeq: number, includeUsage: boolean) {
  const info: ReplyInfo = {
    ...{ id: 'r', sessionId: 's', sessionNum: 1, firstSeq, model: 'm', createdAt: at(0), includeUsage, epoch: 1 },
  }
  const rows: StoredEvent[] = []
  let outcome: Outcome | null = null
  let deleted = false
  const waiting: (() => void)[] = []
  const append: Journal['append'] = (_, events) =>
    new Promise((resolve) =>
      waiting.push(() => {
        rows.push(...structuredClone(events))
        resolve('stored')
      }),
    )
  const log = createReplyLog(info, { append, onRefused() {} })
  const read = async (_: string, after: number): Promise<StoredReply | null> => {
    if (deleted) return null
    const isAfter = ({ seq, part }: StoredEvent) => seq > after || (seq === after && part > 0)
    const ends = outcome ? { endedAt: at(1), settledAt: at(2) } : { endedAt: null, settledAt: null }
    return { info, events: structuredClone(rows.filter(isAfter)), outcome, ...ends }
  }
  return {
    log,
    read,
    store: async () => {
      waiting.shift()?.()
      await turn()
    },
    async settle(how: Outcome) {
      while (waiting.length > 0) await this.store()
      outcome = how
      log.close(how, at(1), at(2), restState(how))
    },
    remove() {
      deleted = true
      log.drop()
    },
  }
}

/** Reads on, and keeps what it has read. */
function collect(reading: AsyncIterable<readonly Frame[]>) {
  const frames: Frame[] = []
  const done = (async () => {
    for await (const batch of reading) frames.push(...batch)
  })()
  done.catch(() => {})
  return { frames, done }
}

const never = new AbortController().signal
type Scene = ReturnType<typeof storedReply>

async function remote(scene: Scene, after: number, signal = never) {
  const first = await scene.read('r', 0)
  if (first === null) throw new Error('deleted')
  return collect(readStored(scene.read, first, after, signal))
}

const call: ReplyEvent = { type: 'tool_call', id: 'c', name: 'n', arguments: '{}', startedAt: at(0) }
const result: ReplyEvent = { type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 }
const step = fc.oneof(
  { weight: 5, arbitrary: fc.string({ minLength: 1 }).map((text) => ({ type: 'text', text }) as const) },
  { weight: 2, arbitrary: fc.constantFrom(call, result) },
  { weight: 5, arbitrary: fc.constantFrom('store' as const, 'poll' as const) },
  { weight: 4, arbitrary: fc.record({ readFrom: fc.integer({ min: 0, max: 30 }) }) },
)

verifies('contract-4.resume', 'readers of the log and of the database see the same, whenever they come', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 40 }),
    fc.constantFrom(...outcomes, 'deleted' as const),
    fc.constantFrom(1, 8),
    fc.boolean(),
    async (steps, how, firstSeq, includeUsage) => {
      const scene = storedReply(firstSeq, includeUsage)
      const pairs: { after: number; here: ReturnType<typeof collect>; there: ReturnType<typeof collect> }[] = []
      const compare = async (after: number) => {
        const there = await remote(scene, after)
        pairs.push({ after, here: collect(scene.log.read(after, never)), there })
        await turn()
      }
      for (const one of steps) {
        if (one === 'store') await scene.store()
        else if (one === 'poll') await poll()
        else if ('readFrom' in one) await compare(one.readFrom)
        else scene.log.push(one)
      }
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
    },
  )
  await fc.assert(property, { numRuns: 150 })
})

test('a reply that is folded between two reads goes on behind the last frame, tool events of its id included', async () => {
  const scene = storedReply(1, false)
  scene.log.push({ type: 'text', text: 'a' })
  await scene.store()
  const reader = await remote(scene, 0)
  await turn()
  scene.log.push(call)
  await scene.store()
  await poll()
  scene.log.push(result)
  scene.log.push({ type: 'text', text: 'b' })
  await scene.settle({ type: 'finished', reason: 'stop', usage })
  await poll()
  await reader.done
  expect(reader.frames.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    ...['1 started', '1 state', '2 text', '2 tool_call', '2 tool_result', '3 text', '3 state', '3 state'],
    ...['4 finished', '5 done'],
  ])
})

verifies('contract-4.delete', 'a follower elsewhere ends with session_deleted, the id last sent plus one', async () => {
  const scene = storedReply(7, false)
  scene.log.push({ type: 'text', text: 'a' })
  await scene.store()
  const [whole, ahead] = [await remote(scene, 0), await remote(scene, 99)]
  await turn()
  scene.remove()
  await poll()
  await Promise.all([whole.done, ahead.done])
  for (const { frames } of [whole, ahead]) {
    expect(frames.at(-1)).toMatchObject({ seq: 9, type: 'failed', error: { code: 'session_deleted' } })
  }
})

test('a follower that leaves asks no more and leaves no timer behind', async () => {
  const scene = storedReply(1, false)
  const leaving = new AbortController()
  const reader = await remote(scene, 0, leaving.signal)
  await turn()
  expect(vi.getTimerCount()).toBe(1)
  leaving.abort()
  await reader.done
  expect(vi.getTimerCount()).toBe(0)
})

test('a database that goes away under a follower rejects: its stream breaks off, a later resume reads on', async () => {
  const scene = storedReply(1, false)
  const first = await scene.read('r', 0)
  if (first === null) throw new Error('deleted')
  const reader = collect(readStored(() => Promise.reject(new Error('away')), first, 0, never))
  const broken = expect(reader.done).rejects.toThrow('away')
  await turn()
  await poll()
  await broken
  expect(reader.frames.map(({ type }) => type)).toEqual(['started', 'state'])
})
