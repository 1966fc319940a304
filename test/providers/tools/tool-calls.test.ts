/** Tool calls put together from deltas of many makes. */
import { describe, expect, test } from 'vitest'
import { ask, aTokenEach, requestTo, scene, spoken } from '../scene.ts'

describe('tool calls', () => {
  const callsIn = async (parts: unknown[], reason = 'tool_calls') => {
    const { up, model } = await scene()
    up.next(async (call) => {
      for (const part of parts) await call.delta({ tool_calls: [part] })
      await call.finish(reason)
    })
    const events = spoken(await ask(model, requestTo(up)))
    expect(events.at(-1)?.type).toBe('end')
    return events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  }
  const f = (name: string, text: string) => ({ name, arguments: text })

  test('arguments split over many deltas, two calls at once', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('Let me see.')
      await call.toolCall({ index: 0, id: 'a', name: 'f', arguments: '{"city":"Zürich"}' }, 1)
      await call.toolCall({ index: 1, id: 'b', name: 'g', arguments: '{"n":2}' }, 2)
      await call.finish('tool_calls')
    })
    expect(spoken(await ask(model, requestTo(up)))).toEqual([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_call', call: { id: 'a', name: 'f', arguments: '{"city":"Zürich"}' } },
      { type: 'tool_call', call: { id: 'b', name: 'g', arguments: '{"n":2}' } },
      { type: 'end', reason: 'tool_calls', usage: aTokenEach },
    ])
  })

  test('deltas of two calls that alternate go by their index', async () => {
    const parts = [
      { index: 0, id: 'a', function: f('f', '{"x"') },
      { index: 1, id: 'b', function: f('g', '{"y"') },
      { index: 0, function: { arguments: ':1}' } },
      { index: 1, function: { arguments: ':2}' } },
    ]
    expect(await callsIn(parts)).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{"y":2}' },
    ])
  })

  test('no index: by id, or to the newest call', async () => {
    const parts = [
      { id: 'a', function: f('f', '{"x"') },
      { id: 'a', function: { arguments: ':1}' } },
      { id: 'b', function: f('g', '{') },
      { function: { arguments: '}' } },
    ]
    expect(await callsIn(parts)).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ])
  })

  test('whole calls that all say index 0 stay apart, with ids and without', async () => {
    const named = [
      { index: 0, id: 'a', function: f('f', '{}') },
      { index: 0, id: 'b', function: f('f', '{}') },
    ]
    expect((await callsIn(named)).map(({ id }) => id)).toEqual(['a', 'b'])
    const unnamed = named.map(({ index, function: fn }) => ({ index, function: fn }))
    const ids = (await callsIn(unnamed)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(ids.every((id) => id.length > 5)).toBe(true)
  })

  test('an id made anew, or a name repeated, with each delta is no other call', async () => {
    const made = [
      { index: 0, id: 'a', function: f('f', '{"x"') },
      { index: 0, id: 'a2', function: { arguments: ':1' } },
      { index: 0, id: 'a', function: f('f', '}') },
    ]
    expect(await callsIn(made)).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }])
  })

  test('no arguments mean {}, an object is written as JSON, the old function_call is one call', async () => {
    expect(await callsIn([{ index: 0, id: 'a', function: { name: 'f' } }])).toEqual([
      { id: 'a', name: 'f', arguments: '{}' },
    ])
    expect(await callsIn([{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }])).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
    ])
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.delta({ function_call: { name: 'f', arguments: '{"x"' } })
      await call.delta({ function_call: { arguments: ':1}' } })
      await call.finish('function_call')
    })
    const events = spoken(await ask(model, requestTo(up)))
    expect(events).toMatchObject([{ call: { name: 'f', arguments: '{"x":1}' } }, { reason: 'tool_calls' }])
  })

  test('calls under finish reason stop are calls; calls cut off by the length limit are not', async () => {
    const part = { index: 0, id: 'a', function: f('f', '{"x":') }
    expect(await callsIn([part], 'stop')).toHaveLength(1)
    expect(await callsIn([part], 'length')).toHaveLength(0)
  })
})
