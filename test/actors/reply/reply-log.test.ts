/** The reply log's invariant (I1 of reply-log.ts), and its writes (contract section 4). */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Outcome, ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { createReplyLog } from '../../../src/actors/reply/reply-log.ts'
import { verifies } from '../../verifies.ts'
import { framesOf } from '../scene.ts'
import { turn } from '../turn.ts'
import {
  close,
  collect,
  endedAt,
  finished,
  follow,
  heldJournal,
  info,
  openLog,
  settledAt,
  text,
  usage,
} from './reply-log-scene.ts'

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

describe('the end: the settlement stores the texts that no write has taken', () => {
  const call: ReplyEvent = { type: 'tool_call', id: 'c', name: 'n', arguments: '{}', startedAt: endedAt }

  test('what waits is taken back, and shown with the outcome, not before', async () => {
    const journal = heldJournal()
    const told: unknown[] = []
    const onStored = (...args: unknown[]) => void told.push(args)
    const log = createReplyLog(info, { ...journal, onStored, onRefused() {} })
    const reader = follow(log, 0)
    log.push([text('a')])
    log.push([text('b')])
    const events = [
      { seq: 6, part: 0, event: text('a') },
      { seq: 7, part: 0, event: text('b') },
    ]
    expect(await log.finish()).toEqual({ verdict: 'stored', events })
    expect([journal.waiting, journal.stored, reader.frames.length]).toEqual([[], [], 2])
    close(log)
    await reader.done
    expect(told).toEqual([[{ seq: 5, part: 0 }, events]])
    const stored = { info, events, outcome: finished, endedAt, settledAt }
    expect(reader.frames).toEqual(await framesOf(stored))
  })

  test('what comes behind a write that has begun waits for it, and goes along with the settlement', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    log.push([text('a')])
    log.push([text('b')])
    const ending = log.finish()
    await journal.settle()
    expect(journal.waiting).toEqual([])
    const events = [...journal.stored, { seq: 7, part: 0, event: text('b') }]
    expect(await ending).toEqual({ verdict: 'stored', events })
  })

  test('what may be no data that can be stored is written first', async () => {
    const journal = heldJournal()
    const log = createReplyLog(info, { ...journal, onStored() {}, onRefused() {} })
    log.push([text('a'), call])
    log.push([text('b')])
    const ending = log.finish()
    await journal.settle()
    await journal.settle()
    expect(await ending).toEqual({ verdict: 'stored', events: journal.stored })
    expect(journal.stored).toHaveLength(3)
  })

  test('a log that was cut meanwhile loses nothing: all is written', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    log.push([text('a')])
    log.push([text('b')])
    const ending = log.finish()
    log.cut()
    await journal.settle()
    await journal.settle()
    expect(await ending).toEqual({ verdict: 'stored', events: null })
    expect(journal.stored.map(({ event }) => event)).toEqual([text('a'), text('b')])
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
