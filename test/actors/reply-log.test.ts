/** The reply log's invariants (I1 of reply-log.ts, I2 and I3 of frame-log.ts), and resume by property (contract section 4). */
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { indexAfter, StreamCut } from '../../src/actors/frame-log.ts'
import type { Journal, ReplyInfo } from '../../src/actors/ports.ts'
import type { Frame, Outcome, ReplyEvent, StoredEvent } from '../../src/actors/reply-event.ts'
import { createReplyLog, type ReplyLog } from '../../src/actors/reply-log.ts'
import { into } from '../support/take.ts'
import { verifies } from '../verifies.ts'
import { framesOf } from './scene.ts'

const info: ReplyInfo = {
  ...{ id: 'r', sessionId: 's', sessionNum: 1, firstSeq: 5, model: 'm', createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ includeUsage: true, instanceId: 'i', epoch: 1 },
}
const usage = { promptTokens: 1, completionTokens: 2, estimated: false }
const finished: Outcome = { type: 'finished', reason: 'stop', usage }
const [endedAt, settledAt] = ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z']
const close = (log: ReplyLog) => log.close({ outcome: finished, endedAt, settledAt })
const never = new AbortController().signal
const text = (value: string): ReplyEvent => ({ type: 'text', text: value })

/** A journal whose writes are answered one by one, by the test. */
function heldJournal() {
  const stored: StoredEvent[] = []
  const waiting: { events: readonly StoredEvent[]; answer(how: 'stored' | 'fenced' | 'refused'): void }[] = []
  const append: Journal['append'] = (_, take) =>
    new Promise((resolve) => {
      const events = take()
      const answer = (how: 'stored' | 'fenced' | 'refused') => {
        if (how === 'stored') stored.push(...structuredClone(events))
        resolve(how)
      }
      waiting.push({ events, answer })
    })
  const settle = async (how: 'stored' | 'fenced' | 'refused' = 'stored') => {
    waiting.shift()?.answer(how)
    await turn()
  }
  return { append, stored, waiting, settle }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const instant: Journal['append'] = async (_, take) => {
  take()
  return 'stored'
}
const openLog = (append: Journal['append'] = instant, onRefused = () => {}) =>
  createReplyLog(info, { append, onStored() {}, onRefused })

async function collect(log: ReplyLog, after: number): Promise<Frame[]> {
  const frames: Frame[] = []
  await log.read(after, never, into(frames))
  return frames
}

/** Starts to read at once; `frames` grows. */
function follow(log: ReplyLog, after: number, signal: AbortSignal = never) {
  const frames: Frame[] = []
  const done = log.read(after, signal, into(frames))
  done.catch(() => {})
  return { frames, done }
}

verifies(
  'contract-4.storage-outage',
  'the wait for the storage is counted from the last write that succeeded',
  async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const journal = heldJournal()
    const log = openLog(journal.append)
    expect(log.unstoredSince()).toBeNull()
    const began = performance.now()
    log.push([text('a')])
    vi.advanceTimersByTime(1000)
    log.push([text('b')])
    expect(log.unstoredSince()).toBe(began)
    await journal.settle() // a is stored; b has waited since before, but the storage answers
    expect(log.unstoredSince()).toBe(began + 1000)
    vi.advanceTimersByTime(1000)
    await journal.settle()
    expect(log.unstoredSince()).toBeNull()
    log.push([text('c')])
    expect(log.unstoredSince()).toBe(began + 2000)
  },
)

describe('I1: no reader sees an event that is not stored', () => {
  test('frames wait for the answer of their write, and what gathers meanwhile is one frame', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    const reader = follow(log, 0)
    log.push([text('a')])
    log.push([text('b')])
    log.push([text('c')])
    await turn()
    expect(reader.frames.map((frame) => frame.type)).toEqual(['started', 'state'])
    await journal.settle()
    expect(reader.frames.slice(2)).toEqual([{ seq: 6, type: 'text', text: 'a' }])
    await journal.settle()
    expect(reader.frames.slice(3)).toEqual([{ seq: 7, type: 'text', text: 'bc' }])
  })

  test('what was handed to the journal does not change any more', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    log.push([text('a')])
    log.push([text('b')])
    expect(journal.waiting[0]?.events).toEqual([{ seq: 6, part: 0, event: text('a') }])
  })

  test.each([
    'fenced',
    'refused',
  ] as const)('nothing of a %s write is shown, and nothing more is stored', async (how) => {
    const journal = heldJournal()
    let refused = 0
    const log = openLog(journal.append, () => (refused += 1))
    const reader = follow(log, 0)
    log.push([text('a')])
    await journal.settle(how)
    log.push([text('b')])
    expect(await log.stored()).toBe(how)
    expect(journal.waiting).toEqual([])
    expect(reader.frames).toHaveLength(2)
    expect(refused).toBe(how === 'refused' ? 1 : 0)
  })
})

const events = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength: 1, unit: 'grapheme' }).map(text) },
    {
      weight: 1,
      arbitrary: fc.constant<ReplyEvent>({
        type: 'tool_call',
        id: 'c',
        name: 'n',
        arguments: '{}',
        startedAt: endedAt,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.constant<ReplyEvent>({ type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 }),
    },
  ),
  { maxLength: 40 },
)

describe('I2: every reader sees the same frames after the same id', () => {
  verifies('contract-4.resume', 'random replies, batches, cuts and cursors, while running and after', async () => {
    const property = fc.asyncProperty(
      events,
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 5 }),
      async (all, schedule, cursors) => {
        const journal = heldJournal()
        const log = openLog(journal.append)
        const readers = [{ after: 0, ...follow(log, 0) }]
        let step = 0
        for (const event of all) {
          log.push([event])
          const pace = schedule[step++ % schedule.length] ?? 0
          if (pace === 0) await journal.settle()
          const last = log.info.firstSeq + step
          if (pace === 1)
            readers.push({ after: last, ...follow(log, Math.min(last, readers[0]?.frames.at(-1)?.seq ?? 0)) })
        }
        while (journal.waiting.length > 0) await journal.settle()
        close(log)
        const whole = await collect(log, 0)
        for (const { done, frames } of readers) {
          await done
          expect(frames).toEqual(whole.slice(whole.length - frames.length))
        }
        const closingAt = whole.findIndex((frame) => frame.type === 'finished')
        const stored = {
          ...{ info, events: journal.stored, outcome: finished, endedAt, settledAt },
        }
        expect(await framesOf(stored)).toEqual(whole)
        for (const after of cursors) {
          const expected = whole.slice(Math.min(indexAfter(whole, after), closingAt))
          expect(await collect(log, after)).toEqual(expected)
          expect(await framesOf(stored, after)).toEqual(expected)
        }
      },
    )
    await fc.assert(property, { numRuns: 200 })
  })

  test('an id ahead of a running log waits at the live end', async () => {
    const log = openLog()
    const reader = follow(log, 999)
    log.push([text('a')])
    await turn()
    expect(reader.frames).toEqual([{ seq: 6, type: 'text', text: 'a' }])
  })

  test('a finished log always says how it ended, whatever the id', async () => {
    const log = openLog()
    log.push([text('a')])
    await log.stored()
    close(log)
    for (const after of [7, 8, 9, 1000]) {
      expect((await collect(log, after)).map((frame) => [frame.seq, frame.type])).toEqual([
        ...[
          [7, 'finished'],
          [8, 'usage'],
          [9, 'done'],
        ],
      ])
    }
  })

  test('a thousand readers see one array of frames, the very same objects', async () => {
    const log = openLog()
    const readers = Array.from({ length: 1000 }, () => follow(log, 0))
    log.push([text('a')])
    await log.stored()
    close(log)
    await Promise.all(readers.map(({ done }) => done))
    const first = readers[0]?.frames ?? []
    for (const { frames } of readers) for (const [index, frame] of frames.entries()) expect(frame).toBe(first[index])
    expect(log.subscribers()).toBe(0)
  })
})

describe('I3: a log ends once', () => {
  test('cut: readers break off without a last frame, and a later close says nothing', async () => {
    const log = openLog()
    const reader = follow(log, 0)
    log.push([text('a')])
    await turn()
    log.cut()
    close(log)
    await expect(reader.done).rejects.toBeInstanceOf(StreamCut)
    expect(reader.frames.at(-1)).toEqual({ seq: 6, type: 'text', text: 'a' })
    expect(log.state()).toBe('cut')
  })

  test('drop: one last chunk, session_deleted, under the last shown id plus one', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    const reader = follow(log, 0)
    log.push([text('a')])
    await journal.settle()
    log.push([text('never stored')])
    log.drop()
    close(log)
    await journal.settle()
    await reader.done
    expect(reader.frames.at(-1)).toMatchObject({ seq: 7, type: 'failed', error: { code: 'session_deleted' } })
    expect(reader.frames.filter((frame) => frame.type === 'failed')).toHaveLength(1)
  })

  test('drop: a reader that comes late, with whatever id, is told too', async () => {
    const log = openLog()
    log.push([text('a')])
    await log.stored()
    log.drop()
    for (const after of [6, 7, 1000])
      expect((await collect(log, after)).at(-1)).toMatchObject({ seq: 7, type: 'failed' })
  })

  test('a reader that leaves is let go at once, and leaves no listener behind', async () => {
    const log = openLog()
    const leaving = new AbortController()
    const listeners = () => getEventListeners(leaving.signal, 'abort').length
    const reader = follow(log, 0, leaving.signal)
    await turn()
    expect([log.subscribers(), listeners()]).toEqual([1, 1])
    leaving.abort()
    await reader.done
    expect([log.subscribers(), listeners()]).toEqual([0, 0])
    const late: Frame[] = []
    await log.read(0, leaving.signal, into(late))
    expect(late).toEqual([])
  })
})

test('a refused write takes no ids: the closing frames follow what is stored, as the database counts', async () => {
  const journal = heldJournal()
  const log = openLog(journal.append)
  log.push([text('a')])
  log.push([text('refused')])
  await journal.settle()
  await journal.settle('refused')
  const failed: Outcome = { type: 'failed', error: { code: 'internal', message: 'm', detail: 'd' }, usage }
  log.close({ outcome: failed, endedAt, settledAt })
  const stored = { info, events: journal.stored, outcome: failed, endedAt, settledAt }
  expect(await collect(log, 0)).toEqual(await framesOf(stored))
  expect((await collect(log, 0)).at(-1)?.seq).toBe(7)
})

test('room: above 1 MiB unstored the writer waits, until it is stored', async () => {
  const journal = heldJournal()
  const log = openLog(journal.append)
  log.push([text('first')])
  log.push([text('x'.repeat((1 << 20) + 1))])
  let free = false
  void log.room()?.then(() => {
    free = true
  })
  await turn()
  expect(free).toBe(false)
  await journal.settle() // the first, small one: what is being written counts too
  expect(free).toBe(false)
  await journal.settle()
  expect(free).toBe(true)
})
