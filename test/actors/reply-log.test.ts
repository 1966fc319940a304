/** The reply log's invariant (I1 of reply-log.ts), and its writes (contract section 4). */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Outcome } from '../../src/actors/reply-event.ts'
import { verifies } from '../verifies.ts'
import { collect, endedAt, follow, heldJournal, info, openLog, settledAt, text, usage } from './reply-log-scene.ts'
import { framesOf } from './scene.ts'
import { turn } from './turn.ts'

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
