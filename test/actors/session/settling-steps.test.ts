/** Steps that a settlement stores along with its reply (contract section 8). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TransitionRecord } from '../../../src/actors/ports/index.ts'
import { turn } from '../turn.ts'
import { gathered, heldStore, sending, step } from './held-store.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Replies that run at once are of different sessions. */
const stepOf = (messageId: string, event: string) => ({
  ...step(event),
  sessionId: `session of ${messageId}`,
  messageId,
})
const eventsOf = (taken: { steps: readonly TransitionRecord[] } | null) => taken?.steps.map(({ event }) => event)

test('a settlement takes the steps of its reply that wait, and those of others are written here', async () => {
  const { recorder, batches } = heldStore()
  const seen: string[] = []
  recorder.subscribe(({ event }) => seen.push(event))
  for (const id of ['r', 's']) for (const n of [1, 2]) recorder.record(stepOf(id, `${id}${n}`))
  const taken = recorder.settling(stepOf('r', 'r3'))
  expect(eventsOf(taken)).toEqual(['r1', 'r2', 'r3'])
  expect(seen).toEqual([])
  taken?.stored()
  expect(seen).toEqual(['r1', 'r2', 'r3'])
  await gathered()
  expect(batches).toEqual([['s1', 's2']])
})

test('it takes none while some of its reply are being written, so that they stay in order', async () => {
  const { recorder, batches, waiting } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  await gathered()
  recorder.record(stepOf('r', 'r2'))
  expect(recorder.settling(stepOf('r', 'r3'))).toBeNull()
  expect(eventsOf(recorder.settling(stepOf('s', 's1')))).toEqual(['s1'])
  recorder.record(stepOf('r', 'r3'))
  waiting.shift()?.resolve()
  await gathered()
  expect(batches).toEqual([['r1'], ['r2', 'r3']])
})

test('it takes none while older ones of its session wait, so that a reply does not overtake the one before', async () => {
  const { recorder, batches } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  const next = { ...stepOf('s', 's1'), sessionId: stepOf('r', 'r1').sessionId }
  expect(recorder.settling(next)).toBeNull()
  recorder.record(next)
  await gathered()
  expect(batches).toEqual([['r1', 's1']])
  expect(eventsOf(recorder.settling(stepOf('t', 't1')))).toEqual(['t1'])
})

test('what it did not store is written here, before what came later; what is gone is not', async () => {
  const { recorder, batches } = heldStore()
  for (const id of ['r', 's', 't']) recorder.record(stepOf(id, `${id}1`))
  const [r, s, t] = ['r', 's', 't'].map((id) => recorder.settling(stepOf(id, `${id}2`)))
  recorder.record(stepOf('u', 'u1'))
  r?.putBack(true)
  s?.putBack(false)
  t?.drop()
  await gathered()
  expect(batches).toEqual([['s1', 'r1', 'r2', 'u1']])
})

test('a flush waits for settlements that have taken steps, but not while the database is away', async () => {
  const { recorder } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  const taken = recorder.settling(stepOf('r', 'r2'))
  const flushed: string[] = []
  void recorder.flush().then(() => flushed.push('a'))
  await turn()
  expect(flushed).toEqual([])
  taken?.stored()
  await turn()
  expect(flushed).toEqual(['a'])
  recorder.settling(stepOf('s', 's1'))
  void recorder.flush().then(() => flushed.push('b'))
  await vi.advanceTimersByTimeAsync(1000)
  await turn()
  expect(flushed).toEqual(['a', 'b'])
})

test('what is large, or brings texts of its own, holds no settlement up', () => {
  const { recorder } = heldStore()
  const { request } = sending('', 1)
  if (!request) throw new Error('no request')
  recorder.record({ ...stepOf('r', 'r1'), request })
  recorder.record({ ...stepOf('s', 's1'), request: { ...request, texts: [], body: 'x'.repeat(2 ** 17) } })
  for (let n = 0; n < 64; n++) recorder.record(stepOf('t', `${n}`))
  for (const id of ['r', 's', 't']) expect(recorder.settling(stepOf(id, 'last'))).toBeNull()
  recorder.record({ ...stepOf('u', 'u1'), request: { ...request, texts: [] } })
  expect(eventsOf(recorder.settling(stepOf('u', 'u2')))).toEqual(['u1', 'u2'])
})
