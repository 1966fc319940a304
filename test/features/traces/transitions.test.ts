/** Steps are recorded in order, once each, in batches, off the token path (contract section 8). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTransitionRecorder } from '../../../src/features/traces/transitions.ts'
import { gathered, heldStore, sending, step } from '../../actors/session/held-store.ts'
import { turn } from '../../actors/turn.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('steps of 100 ms go together, those that come during a write too', async () => {
  const { recorder, batches, waiting } = heldStore()
  recorder.record(step('1'))
  await vi.advanceTimersByTimeAsync(99)
  recorder.record(step('2'))
  await turn()
  expect(batches).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  for (const event of ['3', '4']) recorder.record(step(event))
  await gathered()
  expect(batches).toEqual([['1', '2']])
  waiting.shift()?.resolve()
  await vi.advanceTimersByTimeAsync(99)
  recorder.record(step('5'))
  await turn()
  expect(batches).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([
    ['1', '2'],
    ['3', '4', '5'],
  ])
})

test('two flushes during a write wait for the one write behind it', async () => {
  const { recorder, batches, waiting } = heldStore()
  recorder.record(step('1'))
  await gathered()
  recorder.record(step('2'))
  const flushed: string[] = []
  void recorder.flush().then(() => flushed.push('a'))
  void recorder.flush().then(() => flushed.push('b'))
  waiting.shift()?.resolve()
  await turn()
  expect([batches, flushed]).toEqual([[['1'], ['2']], []])
  waiting.shift()?.resolve()
  await turn()
  expect(flushed).toEqual(['a', 'b'])
})

test('flush writes at once what has gathered, and its time passes without another write', async () => {
  const { recorder, batches, waiting } = heldStore()
  for (const event of ['1', '2']) recorder.record(step(event))
  let flushed = false
  const flushing = recorder.flush().then(() => {
    flushed = true
  })
  await turn()
  expect([batches, flushed]).toEqual([[['1', '2']], false])
  waiting.shift()?.resolve()
  await flushing
  await gathered()
  expect(batches).toEqual([['1', '2']])
  recorder.record(step('3'))
  await gathered()
  expect(batches).toEqual([['1', '2'], ['3']])
})

test('flush has stored whatever was recorded before it, in whatever microtask behind a write', async () => {
  for (let depth = 0; depth < 8; depth += 1) {
    const { recorder, batches, waiting } = heldStore()
    recorder.record(step('1'))
    await gathered()
    waiting.shift()?.resolve()
    for (let passed = 0; passed < depth; passed += 1) await Promise.resolve()
    recorder.record(step('late'))
    let flushed = false
    void recorder.flush().then(() => {
      flushed = true
    })
    await turn()
    expect([batches.flat(), flushed], `${depth} microtasks later`).toEqual([['1', 'late'], false])
    waiting.shift()?.resolve()
    await turn()
    expect(flushed).toBe(true)
  }
})

test('a step that is recorded in whatever microtask behind a write is written too', async () => {
  for (let depth = 0; depth < 8; depth += 1) {
    const { recorder, batches, waiting } = heldStore()
    recorder.record(step('1'))
    await gathered()
    waiting.shift()?.resolve()
    for (let passed = 0; passed < depth; passed += 1) await Promise.resolve()
    recorder.record(step('late'))
    await gathered()
    expect(batches.flat(), `${depth} microtasks later`).toEqual(['1', 'late'])
  }
})

test('listeners are told of a step once it is stored, and no more when they have left', async () => {
  const { recorder, waiting } = heldStore()
  const seen: string[] = []
  const leave = recorder.subscribe(({ event }) => seen.push(event))
  recorder.record(step('1'))
  await gathered()
  expect(seen).toEqual([])
  waiting.shift()?.resolve()
  await turn()
  expect(seen).toEqual(['1'])
  leave()
  recorder.record(step('2'))
  await gathered()
  waiting.shift()?.resolve()
  await recorder.flush()
  expect(seen).toEqual(['1'])
})

test('while the database is away nothing is lost or turned around, and flush does not wait for it', async () => {
  const { recorder, batches, waiting, errors } = heldStore()
  recorder.record(step('1'))
  await gathered()
  recorder.record(step('2'))
  waiting.shift()?.reject(new Error('away'))
  await recorder.flush()
  expect([errors.length, batches]).toEqual([1, [['1']]])
  recorder.record(step('3'))
  await vi.advanceTimersByTimeAsync(1000)
  // As it was: the first write may be carried out yet.
  expect(batches).toEqual([['1'], ['1']])
  waiting.shift()?.resolve()
  await gathered()
  expect(batches.slice(2)).toEqual([['2', '3']])
  waiting.shift()?.resolve()
  await recorder.flush()
})

test('what models were sent is written in parts, and a flush waits for all of them', async () => {
  const { recorder, batches, waiting } = heldStore()
  for (const [event, size] of Object.entries({ a: 3, b: 4, c: 4, d: 20, e: 1 })) recorder.record(sending(event, size))
  let flushed = false
  void recorder.flush().then(() => {
    flushed = true
  })
  for (let written = 1; written <= 4; written++) {
    await turn()
    expect([batches.length, flushed]).toEqual([written, false])
    waiting.shift()?.resolve()
  }
  await turn()
  expect(batches).toEqual([['a', 'b'], ['c'], ['d'], ['e']])
  expect(flushed).toBe(true)
})

test('while more than 64 MiB of it wait, steps go without, and none is lost', async () => {
  const kept: string[] = []
  let isAway = true
  const recorder = createTransitionRecorder(
    {
      async record(batch) {
        if (isAway) throw new Error('the database is away')
        for (const { event, request } of batch) kept.push(`${event} ${request ? 'with' : 'without'}`)
      },
    },
    () => {},
  )
  for (let n = 0; n < 4; n++) recorder.record(sending(`${n}`, 20))
  const amended = step('amended')
  recorder.record(amended)
  const { request } = sending('', 20)
  expect(recorder.amend(amended, { detail: { is: true }, ...(request && { request }) })).toBe(true)
  await recorder.flush()
  recorder.record(sending('late', 20))
  isAway = false
  await vi.advanceTimersByTimeAsync(10_000)
  await recorder.flush()
  expect(kept).toEqual(['0 with', '1 with', '2 with', '3 without', 'amended without', 'late without'])
})

/** Of a reply. */
