/** Tool calls put together from deltas of many makes. */
import { describe, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
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

describe('several calls of one id, or of none', () => {
  type Part = { index?: number; id?: string; function: { name?: string; arguments?: unknown } }
  const part = (name: string, text: unknown, more: Omit<Part, 'function'> = {}): Part => ({
    ...more,
    function: { name, arguments: text },
  })
  const rest = (text: string, more: Omit<Part, 'function'>): Part => ({ ...more, function: { arguments: text } })

  /** Name and arguments of each call that is made of these deltas. */
  async function streamed(...deltas: Part[][]) {
    const { up, model } = await scene()
    up.next(async (call) => {
      for (const parts of deltas) await call.delta({ tool_calls: parts })
      await call.finish('tool_calls')
    })
    return made(await ask(model, requestTo(up)))
  }
  /** The same of an answer without streaming. */
  async function whole(...parts: Part[]) {
    const { up, model } = await scene()
    const message = { role: 'assistant', content: null, tool_calls: parts }
    up.next((call) => call.json({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
    return made(await ask(model, requestTo(up)))
  }
  const made = (events: Awaited<ReturnType<typeof ask>>) => {
    expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'tool_calls' })
    return events.flatMap((event) => (event.type === 'tool_call' ? [[event.call.name, event.call.arguments]] : []))
  }
  const x = { id: 'x' }
  const first = { index: 0, id: 'x' }

  verifies('contract-25.call-ids', 'each call of a whole answer is one, by its place', async () => {
    for (const other of ['f', 'g']) {
      expect(await whole(part('f', '{"q":1}', x), part(other, '{"q":2}', x))).toEqual([
        ['f', '{"q":1}'],
        [other, '{"q":2}'],
      ])
      for (const none of [null, '', 'null', '{}']) {
        expect(await whole(part('f', none), part(other, none))).toEqual([
          ['f', '{}'],
          [other, '{}'],
        ])
      }
    }
    expect(await whole(part('f', '{"q":1}', x), part('g', '{"q":1}', x))).toHaveLength(2)
  })

  verifies(
    'contract-25.call-ids',
    'one id, name and arguments twice, in one delta or answer, is one call',
    async () => {
      const twice = [part('f', '{"q":1,"r":2}', x), part('f', '{"r":2,"q":1}', x)]
      expect(await whole(...twice)).toEqual([['f', '{"q":1,"r":2}']])
      expect(await streamed(twice)).toEqual([['f', '{"q":1,"r":2}']])
      expect(await streamed([part('f', '{"q"', x), part('f', ':1}', x)])).toEqual([['f', '{"q":1}']])
    },
  )

  verifies('contract-25.call-ids', 'a name sent again otherwise before the arguments makes no other call', async () => {
    for (const [name, at] of [['null', { index: 0 }] as const, ['F', first] as const]) {
      expect(await streamed([part('f', '', first)], [part(name, '{"q":1}', at)])).toEqual([['f', '{"q":1}']])
    }
    const pieces = [[part('get_', '', first)], [part('weather', '', { index: 0 })], [rest('{}', { index: 0 })]]
    expect(await streamed(...pieces)).toHaveLength(1)
  })

  verifies('contract-25.call-ids', 'a whole answer behind the deltas of its calls makes none anew', async () => {
    const { up, model } = await scene()
    const parts = [part('f', '{"q":1}', x), part('g', '{"q":2}', x)]
    up.next(async (call) => {
      for (const one of parts) await call.delta({ tool_calls: [one] })
      await call.data({ choices: [{ index: 0, message: { tool_calls: parts }, finish_reason: 'tool_calls' }] })
      await call.data('[DONE]')
      call.end()
    })
    expect(made(await ask(model, requestTo(up)))).toEqual([
      ['f', '{"q":1}'],
      ['g', '{"q":2}'],
    ])
  })

  verifies('contract-25.call-ids', 'another name is another call, whatever id and index say', async () => {
    const both = [
      ['f', '{"q":1}'],
      ['g', '{"q":2}'],
    ]
    for (const at of [first, x, { index: 0 }, {}]) {
      expect(await streamed([part('f', '{"q":1}', at)], [part('g', '{"q":2}', at)])).toEqual(both)
      expect(await streamed([part('f', '{"q":1}', at), part('g', '{"q":2}', at)])).toEqual(both)
      expect(await streamed([part('f', '', at)], [part('g', '{"q":2}', at)])).toEqual([['f', '{}'], both[1]])
      for (const none of [null, '', 'null']) {
        const calls = await streamed([part('f', none, at)], [part('g', none, at)])
        expect(calls).toEqual([
          ['f', '{}'],
          ['g', '{}'],
        ])
      }
    }
    const pieces = [[part('f', '{"q":1}', x)], [part('g', '{"q"', x)], [rest(':2}', x)]]
    expect(await streamed(...pieces)).toEqual(both)
  })

  verifies('contract-25.call-ids', 'one id and name: other arguments behind whole ones are another call', async () => {
    for (const at of [first, x]) {
      const calls = await streamed([part('f', '{"q":1}', at)], [part('f', '{"q":', at)], [rest('2}', at)])
      expect(calls).toEqual([
        ['f', '{"q":1}'],
        ['f', '{"q":2}'],
      ])
      const pieces = ['{"q"', ':1}', '{"q"', ':2}', '{"q": 1}'].map((text) => [part('f', text, at)])
      expect(await streamed(...pieces)).toEqual(calls)
    }
  })

  verifies(
    'contract-25.call-ids',
    'one id and name: {} and null before, or the whole once more, is one call',
    async () => {
      for (const at of [first, x]) {
        for (const sent of [
          ['{}', '{"q":1}'],
          ['null', '{"q":1}'],
          ['{"q":1}', '{}'],
          ['{"q":1}', '{"q": 1}'],
          ['{}', '{"q"', ':1}', '{"q":1}'],
          ['{"q":1}', '\n'],
        ]) {
          expect(await streamed(...sent.map((text) => [part('f', text, at)]))).toEqual([['f', '{"q":1}']])
        }
        const turned = ['{"q":1,"r":2}', '{"r":2,"q":1}'].map((text) => [part('f', text, at)])
        expect(await streamed(...turned)).toEqual([['f', '{"q":1,"r":2}']])
        expect(await streamed([part('f', '{}', at)], [part('f', '{}', at)])).toEqual([['f', '{}']])
        expect(await streamed([part('f', 'null', at)], [part('f', 'null', at)])).toEqual([['f', '{}']])
      }
    },
  )

  verifies('contract-25.call-ids', 'two of one delta are two, where no index says otherwise', async () => {
    for (const none of [null, '', 'null']) {
      expect(await streamed([part('f', none), part('f', none)])).toEqual([
        ['f', '{}'],
        ['f', '{}'],
      ])
    }
    expect(await streamed([part('f', '{"q"', x), rest(':1}', x)])).toEqual([['f', '{"q":1}']])
  })
})
