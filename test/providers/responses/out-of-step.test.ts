/** Items of the Responses API whose places, ids or words are out of step (contract section 25). */
import { describe, expect } from 'vitest'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, scene, textOf } from '../scene.ts'
import { calling, done, requestFor, text, thinking, tool, usage } from './scene.ts'

const opened = () => scene({ providerRetries: 2 })

/** One turn as the script plays it. */
async function answered(play: (call: UpstreamCall) => unknown) {
  const { up, model } = await opened()
  up.next(play)
  return await ask(model, requestFor(up, { tools: [tool] }))
}

const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call.arguments] : []))
const namedIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [`${event.call.name} ${event.call.arguments}`] : []))

describe('items of the Responses API out of step', () => {
  const message = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Here.' }] }
  const other = { ...calling, id: 'fc_2', call_id: 'call_2', arguments: '{"a":2}' }
  const whole = (...output: object[]) => ({
    type: 'response.completed',
    response: { status: 'completed', output, usage },
  })
  const without = ({ output_index: _, ...event }: Record<string, unknown>) => event
  const ended = (...events: object[]) =>
    answered(async (call) => {
      for (const event of events) await call.data({ ...event })
      call.end()
    })
  const once = (events: readonly ModelEvent[]) => [textOf(events), callsIn(events)]

  verifies('contract-19.slips', 'items without places are read once, though the end repeats them', async () => {
    const deltas = [without(text('He')), without(text('re.'))]
    const items = [without(done(0, message)), without(done(0, calling)), without(done(0, other))]
    const both = ['Here.', ['{"a":1}', '{"a":2}']]
    expect(once(await ended(...deltas, ...items, whole(message, calling, other)))).toEqual(both)
    expect(once(await ended(...items, whole(message, calling, other)))).toEqual(both)
    expect(once(await ended(...deltas, whole(message, calling, other)))).toEqual(both)
    expect(once(await ended(whole(message, calling, other)))).toEqual(both)
  })

  verifies('contract-19.slips', 'items that all stand at the first place are all read, and once', async () => {
    const items = [done(0, thinking), done(0, message), done(0, calling), done(0, calling), done(0, other)]
    const both = ['Here.', ['{"a":1}', '{"a":2}']]
    expect(once(await ended(text('Here.'), ...items, whole(thinking, message, calling, other)))).toEqual(both)
    expect(once(await ended(...items, whole()))).toEqual(both)
  })

  verifies('contract-25.call-ids', 'calls at one place, of one id or none, are each made once', async () => {
    for (const call_id of ['call_1', undefined]) {
      for (const name of ['f', 'g']) {
        const first = { ...calling, call_id }
        const second = { ...calling, call_id, name, arguments: '{"a":2}' }
        const both = ['f {"a":1}', `${name} {"a":2}`]
        const items = [done(0, first), done(0, second), done(0, { ...second, arguments: '{"a": 2}' })]
        expect(namedIn(await ended(...items, whole()))).toEqual(both)
        expect(namedIn(await ended(...items, whole(first, second)))).toEqual(both)
        expect(namedIn(await ended(without(done(0, first)), whole(first, second)))).toEqual(both)
      }
    }
  })

  verifies(
    'contract-25.call-ids',
    'a call whose keys stand in another order, or that was cut, is the same',
    async () => {
      const [ab, ba, cut] = ['{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', '{"a":1,"b":']
      const first = { ...calling, arguments: ab }
      const second = { ...other, arguments: ab }
      const turned = [first, second].map((call) => ({ ...call, arguments: ba }))
      expect(callsIn(await ended(without(done(0, first)), whole(...turned.slice(0, 1))))).toEqual([ab])
      expect(callsIn(await ended(done(0, first), done(0, second), whole(...turned)))).toEqual([ab, ab])
      expect(callsIn(await ended(done(0, first), done(0, { ...first, arguments: ba }), whole(first)))).toEqual([ab])
      expect(callsIn(await ended(without(done(0, { ...first, arguments: cut })), whole(first)))).toHaveLength(1)
    },
  )

  verifies('contract-25.call-ids', 'arguments that come as an object are that object', async () => {
    const call = { ...calling, arguments: { a: 1 } }
    for (const events of [[done(0, call), whole(call)], [without(done(0, call)), whole(calling)], [whole(call)]]) {
      expect(namedIn(await ended(...events))).toEqual(['f {"a":1}'])
    }
    const end = (await ended(done(0, thinking), done(1, call), whole())).at(-1)
    expect(JSON.stringify(end)).toContain(JSON.stringify(calling.arguments))
  })

  verifies('contract-19.slips', '[DONE] alone is an end of what was said, and of nothing else', async () => {
    const said = await answered(async (call) => {
      await call.data(text('Here.'))
      await call.data('[DONE]')
      call.end()
    })
    expect([textOf(said), said.at(-1)]).toEqual(['Here.', expect.objectContaining({ type: 'end' })])
    const { up, model } = await opened()
    up.always(async (call) => {
      await call.data('[DONE]')
      call.end()
    })
    expect(failureIn(await ask(model, requestFor(up, { tools: [tool] }))).message).toContain('ended early')
  })
})
