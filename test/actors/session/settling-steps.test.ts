/** Steps that a settlement stores along with its reply (contract section 8). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Settled, TransitionRecorder } from '../../../src/actors/ports/index.ts'
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

/** Begins a settlement, which the test answers. `steps`: the events that it is to store along. Null: none. */
function settling(recorder: TransitionRecorder, last: ReturnType<typeof stepOf>) {
  const { promise, resolve } = Promise.withResolvers<Settled>()
  const asked = vi.fn((_?: unknown) => promise)
  const over = recorder.settle(last, asked)
  const [steps] = asked.mock.calls[0] ?? []
  return {
    steps: Array.isArray(steps) ? steps.map(({ event }) => event) : null,
    async answer(settled: Settled) {
      resolve(settled)
      await over
    },
  }
}
const stored: Settled = { result: 'settled', settledAt: '' }

test('a settlement takes the steps of its reply that wait, and those of others are written here', async () => {
  const { recorder, batches } = heldStore()
  const seen: string[] = []
  recorder.subscribe(({ event }) => seen.push(event))
  for (const id of ['r', 's']) for (const n of [1, 2]) recorder.record(stepOf(id, `${id}${n}`))
  const taken = settling(recorder, stepOf('r', 'r3'))
  expect(taken.steps).toEqual(['r1', 'r2', 'r3'])
  expect(seen).toEqual([])
  await taken.answer(stored)
  expect(seen).toEqual(['r1', 'r2', 'r3'])
  await gathered()
  expect(batches).toEqual([['s1', 's2']])
})

test('it takes none while some of its reply are being written, so that they stay in order', async () => {
  const { recorder, batches, waiting } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  await gathered()
  recorder.record(stepOf('r', 'r2'))
  expect(settling(recorder, stepOf('r', 'r3')).steps).toBeNull()
  expect(settling(recorder, stepOf('s', 's1')).steps).toEqual(['s1'])
  recorder.record(stepOf('r', 'r3'))
  waiting.shift()?.resolve()
  await gathered()
  expect(batches).toEqual([['r1'], ['r2', 'r3']])
})

test('it takes none while older ones of its session wait, so that a reply does not overtake the one before', async () => {
  const { recorder, batches } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  const next = { ...stepOf('s', 's1'), sessionId: stepOf('r', 'r1').sessionId }
  expect(settling(recorder, next).steps).toBeNull()
  recorder.record(next)
  await gathered()
  expect(batches).toEqual([['r1', 's1']])
  expect(settling(recorder, stepOf('t', 't1')).steps).toEqual(['t1'])
})

test('what it did not store is written here, before what came later; what is gone is not', async () => {
  const { recorder, batches } = heldStore()
  const ids = ['q', 'r', 's', 't']
  for (const id of ids) recorder.record(stepOf(id, `${id}1`))
  const failing = recorder.settle(stepOf('q', 'q2'), () => Promise.reject(new Error('away')))
  const [r, s, t] = ids.slice(1).map((id) => settling(recorder, stepOf(id, `${id}2`)))
  recorder.record(stepOf('u', 'u1'))
  await expect(failing).rejects.toThrow('away')
  await r?.answer({ ...stored, leftSteps: true })
  await s?.answer({ result: 'fenced' })
  await t?.answer({ result: 'gone' })
  await gathered()
  expect(batches).toEqual([['s1', 'r1', 'r2', 'q1', 'u1']])
})

test('a flush waits for settlements that have taken steps, but not while the database is away', async () => {
  const { recorder } = heldStore()
  recorder.record(stepOf('r', 'r1'))
  const taken = settling(recorder, stepOf('r', 'r2'))
  const flushed: string[] = []
  void recorder.flush().then(() => flushed.push('a'))
  await turn()
  expect(flushed).toEqual([])
  await taken.answer(stored)
  await turn()
  expect(flushed).toEqual(['a'])
  settling(recorder, stepOf('s', 's1'))
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
  for (const id of ['r', 's', 't']) expect(settling(recorder, stepOf(id, 'last')).steps).toBeNull()
  recorder.record({ ...stepOf('u', 'u1'), request: { ...request, texts: [] } })
  expect(settling(recorder, stepOf('u', 'u2')).steps).toEqual(['u1', 'u2'])
})
