/** Commit first, then act, and only under a valid lease (contract section 10): the generate loop's part. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLeaseGate } from '../../../src/actors/generate/endings.ts'
import { verifies } from '../../verifies.ts'
import { ask, type Call, end, run, say, script } from './generation-scene.ts'

const calling = () => script([ask('a'), end('tool_calls')], [say('done'), end()])
const leaseOver = { type: 'failed', error: { code: 'internal', message: expect.stringContaining('lease') } }

test('a check that finds the lease over stops its holders, and nobody who has let go', () => {
  let until = Number.POSITIVE_INFINITY
  const gate = createLeaseGate(() => until)
  const stopped: string[] = []
  gate.hold(() => stopped.push('a'))
  const release = gate.hold(() => stopped.push('b'))
  expect([gate.check(), stopped]).toEqual([true, []])
  release()
  until = performance.now()
  expect([gate.check(), stopped]).toEqual([false, ['a']])
})

test('stopping the holders does not depend on what the lease is now', () => {
  const gate = createLeaseGate(() => Number.POSITIVE_INFINITY)
  const stopped: string[] = []
  gate.hold(() => stopped.push('a'))
  gate.stop()
  expect([gate.check(), stopped]).toEqual([true, ['a']])
})

verifies('contract-10.commit-first', 'no tool is called before all that was emitted is stored', async () => {
  const storing = Promise.withResolvers<boolean>()
  const called: string[] = []
  const model = calling()
  const call: Call = async ({ id }) => {
    called.push(id)
    return { ok: true, content: '' }
  }
  // Two times before the tool: for what opens the tools and for the first model call, which have nothing to wait for.
  const verdicts = [Promise.resolve(true), Promise.resolve(true), storing.promise]
  const running = run(model, { call, stored: () => verdicts.shift() ?? Promise.resolve(true) })
  await turn()
  expect([model.requests.length, verdicts.length, called]).toEqual([1, 0, []])
  storing.resolve(true)
  expect((await running).ending).toEqual({ type: 'finished', reason: 'stop' })
  expect(called).toEqual(['a'])
})

verifies('contract-10.commit-first', 'the model is asked again only after the results are stored', async () => {
  const storing = Promise.withResolvers<boolean>()
  const model = calling()
  let waits = 0
  const stored = () => (++waits === 4 ? storing.promise : Promise.resolve(true))
  const running = run(model, { stored })
  await turn()
  expect([waits, model.requests.length]).toEqual([4, 1])
  storing.resolve(true)
  await running
  expect(model.requests).toHaveLength(2)
})

verifies('contract-10.commit-first', 'what never will be stored is never acted on: the reply ends', async () => {
  let called = 0
  const call: Call = async () => ({ ok: true, content: String(++called) })
  let waits = 0
  const { ending } = await run(calling(), { call, stored: async () => ++waits < 3 })
  expect(ending).toMatchObject({ type: 'failed', error: { code: 'internal' } })
  expect(called).toBe(0)
})

verifies('contract-10.lease', 'a lease that ends while the call is stored: no tool is called', async () => {
  let until = Number.POSITIVE_INFINITY
  let called = 0
  const call: Call = async () => ({ ok: true, content: String(++called) })
  let waits = 0
  const stored = async () => {
    if (++waits === 3) until = 0
    return true
  }
  const { ending, events } = await run(calling(), { call, stored, gate: createLeaseGate(() => until) })
  expect(ending).toMatchObject(leaseOver)
  expect(called).toBe(0)
  expect(events.map(({ type }) => type)).toEqual(['tool_call'])
})

verifies('contract-10.lease', 'without storage the lease alone counts: no tool, no further model call', async () => {
  let until = Number.POSITIVE_INFINITY
  const gate = createLeaseGate(() => until)
  const model = calling()
  const call: Call = async () => {
    until = 0
    return { ok: true, content: '' }
  }
  expect((await run(model, { call, gate })).ending).toMatchObject(leaseOver)
  expect(model.requests).toHaveLength(1)
  expect((await run(calling(), { gate })).ending).toMatchObject(leaseOver)
})

verifies('contract-10.lease', 'a check from outside stops a running model call and a running tool', async () => {
  let until = Number.POSITIVE_INFINITY
  const gate = createLeaseGate(() => until)
  const loseLease = () => {
    until = 0
    gate.check()
  }
  const hanging = run(script([say('a'), 'hang']), { gate })
  await turn()
  loseLease()
  expect((await hanging).ending).toMatchObject(leaseOver)
  until = Number.POSITIVE_INFINITY
  const call: Call = () => {
    queueMicrotask(loseLease)
    return new Promise(() => {})
  }
  expect((await run(calling(), { gate, call })).ending).toMatchObject(leaseOver)
})

verifies(
  'contract-10.keys',
  'n counts every call of the reply in the order that the model asked for them',
  async () => {
    const keys: string[] = []
    const call: Call = async (_call, _signal, key) => {
      keys.push(key)
      return { ok: true, content: '' }
    }
    const model = script([ask('a'), ask('b'), end('tool_calls')], [ask('c'), ask('d'), end('tool_calls')], [end()])
    await run(model, { call, config: { maxToolCalls: 3 } })
    expect(keys).toEqual(['r:1', 'r:2', 'r:3'])
  },
)
