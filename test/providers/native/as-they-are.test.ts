/**
 * What gateways really send in the other wire formats: Anthropic's, Gemini's and the Responses API (contract section 25).
 * field-slips.test.ts has the same for chat completions.
 */
import { describe, expect, test } from 'vitest'
import type { ModelEvent, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import * as responses from '../responses/scene.ts'
import { ask, failureIn, scene } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'
import { open } from './native-scene.ts'

const formats = ['anthropic', 'gemini', 'responses'] as const
type Format = (typeof formats)[number]

const openResponses = async () => {
  const { up, model } = await scene({ providerRetries: 2 })
  return { up, model, request: (changes: Partial<ModelRequest> = {}) => responses.requestFor(up, changes) }
}
const openFormat = (format: Format) =>
  format === 'responses' ? openResponses() : open(format, { providerRetries: 2, idleTimeoutMs: 60_000 })

/** One turn as the script plays it. */
async function answered(format: Format, play: (call: UpstreamCall) => unknown, changes: Partial<ModelRequest> = {}) {
  const { up, model, request } = await openFormat(format)
  up.next(play)
  return await ask(model, request({ tools: [responses.tool], ...changes }))
}

const joined = (events: readonly ModelEvent[], type: 'text' | 'reasoning') =>
  events.map((event) => (event.type === type ? event.text : '')).join('')
const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call.arguments] : []))
const namedIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [`${event.call.name} ${event.call.arguments}`] : []))

/** A text in pieces, its end, and nothing after it: neither a goodbye nor the end of the connection. */
const saysAndStays: Record<Format, (call: UpstreamCall, pieces: readonly string[]) => Promise<void>> = {
  async anthropic(call, pieces) {
    await call.raw(anthropic.turn({ text: pieces }).replace(anthropic.event('message_stop'), ''))
  },
  async gemini(call, pieces) {
    await call.raw(gemini.turn({ text: pieces }))
  },
  async responses(call, pieces) {
    for (const piece of pieces) await call.data(responses.text(piece))
    await call.data({
      type: 'response.completed',
      response: { status: 'completed', output: [], usage: responses.usage },
    })
  },
}

describe.each(formats)('%s', (format) => {
  verifies('contract-25.done-is-done', `${format}: behind its end the socket may stay open`, async () => {
    const events = await answered(format, async (call) => {
      await saysAndStays[format](call, ['Here.'])
      await call.closed
    })
    expect(joined(events, 'text')).toBe('Here.')
    expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
  })

  verifies(
    'contract-19.slips',
    `${format}: think tags at the beginning are reasoning, however they are cut`,
    async () => {
      for (const pieces of [['<think>why</think>Because.'], ['\n<th', 'ink>w', 'hy</', 'think>Bec', 'ause.']]) {
        for (const reasoning of [true, false]) {
          const play = async (call: UpstreamCall) => {
            await saysAndStays[format](call, pieces)
            call.end()
          }
          const events = await answered(format, play, { reasoning })
          expect([joined(events, 'reasoning'), joined(events, 'text')]).toEqual([reasoning ? 'why' : '', 'Because.'])
        }
      }
      const within = await answered(format, async (call) => {
        await saysAndStays[format](call, ['A tag: ', '<think>'])
        call.end()
      })
      expect(joined(within, 'text')).toBe('A tag: <think>')
    },
  )

  verifies(
    'contract-19.slips',
    `${format}: an error behind status 200 is told in its words, and not asked again`,
    async () => {
      for (const body of [
        { code: 400, message: 'no such thing' },
        { detail: 'no such thing' },
        { errors: [{ message: 'no such thing' }] },
      ]) {
        const { up, model, request } = await openFormat(format)
        up.next((call) => call.json(body))
        up.next(async (call) => {
          await call.data(body)
          call.end()
        })
        for (let n = 1; n <= 2; n++) {
          expect(failureIn(await ask(model, request())).message).toContain('no such thing')
          expect(up.calls).toHaveLength(n)
        }
      }
    },
  )
})

test('Gemini: an end in the same piece hides neither a limit that was passed nor an error', async () => {
  const calls = Array.from({ length: 129 }, () => ({ functionCall: { name: 'f', args: {} } }))
  const many = await answered('gemini', async (call) => {
    await call.raw(gemini.parts(calls, { finishReason: 'STOP' }))
    call.end()
  })
  expect(failureIn(many).detail).toContain('more than 128 tool calls')
  const end = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }
  const listed = await answered('gemini', (call) => call.json([gemini.error(400, 'X', 'no such thing'), end]))
  expect(failureIn(listed).message).toContain('no such thing')
})

verifies(
  'contract-25.call-ids',
  'Gemini: arguments that come as text are what it means, in what goes back too',
  async () => {
    const events = await answered('gemini', async (call) => {
      await call.raw(gemini.parts([{ functionCall: { name: 'f', args: '{"q":1}' } }], { finishReason: 'STOP' }))
      call.end()
    })
    expect(namedIn(events)).toEqual(['f {"q":1}'])
    expect(events.at(-1)).toMatchObject({ echo: { what: [{ functionCall: { name: 'f', args: { q: 1 } } }] } })
  },
)

describe('blocks of Anthropic out of step', () => {
  const start = (index: number | undefined, content_block: object) =>
    anthropic.event('content_block_start', { index, content_block })
  const delta = (index: number | undefined, part: object) =>
    anthropic.event('content_block_delta', { index, delta: part })
  const use = (id?: string, name = 'f', input: unknown = {}) => ({ type: 'tool_use', id, name, input })
  const json = (index: number | undefined, partial_json: string) =>
    delta(index, { type: 'input_json_delta', partial_json })
  const text = (index: number, words: string) => delta(index, { type: 'text_delta', text: words })
  const ended = (...blocks: string[]) =>
    answered('anthropic', async (call) => {
      const [first = '', last = ''] = anthropic.turn({ stop: 'tool_use' }).split(anthropic.event('ping'))
      await call.raw([first, ...blocks, last].join(''))
      call.end()
    })

  verifies('contract-19.slips', 'text whose block never began is kept, under the index of a call too', async () => {
    expect(joined(await ended(text(0, 'Al'), text(0, 'one.')), 'text')).toBe('Alone.')
    const events = await ended(start(0, use('a')), json(0, '{"a":'), text(0, 'Beside.'), json(0, '1}'))
    expect([joined(events, 'text'), callsIn(events)]).toEqual(['Beside.', ['{"a":1}']])
  })

  verifies('contract-19.slips', 'arguments under another index are those of the call before', async () => {
    expect(callsIn(await ended(start(0, use('a')), json(1, '{"a":'), json(1, '1}')))).toEqual(['{"a":1}'])
  })

  verifies('contract-19.slips', 'a second call under an index in use is a call of its own', async () => {
    const events = await ended(start(0, use('a')), json(0, '{"a":1}'), start(0, use('b')), json(0, '{"a":2}'))
    expect(callsIn(events)).toEqual(['{"a":1}', '{"a":2}'])
  })

  verifies('contract-25.call-ids', 'calls under one index and one id, or none, are each made once', async () => {
    for (const id of ['a', undefined]) {
      for (const at of [0, undefined]) {
        for (const name of ['f', 'g']) {
          const whole = await ended(start(at, use(id, 'f', { q: 1 })), start(at, use(id, name, { q: 2 })))
          expect(namedIn(whole)).toEqual(['f {"q":1}', `${name} {"q":2}`])
          const pieces = [start(at, use(id)), json(at, '{"q":1}'), start(at, use(id, name)), json(at, '{"q":2}')]
          expect(namedIn(await ended(...pieces))).toEqual(['f {"q":1}', `${name} {"q":2}`])
        }
        expect(namedIn(await ended(start(at, use(id, 'f')), start(at, use(id, 'g'))))).toEqual(['f {}', 'g {}'])
        const begun = start(at, use(id))
        for (const again of [
          [begun, begun, json(at, '{"q":1}')],
          [begun, json(at, '{"q"'), begun, json(at, ':1}')],
          [begun, json(at, '{"q":1}'), begun],
          [begun, json(at, '{"q":1}'), begun, json(at, '{"q": 1}')],
          [start(at, use(id, 'f', { q: 1 })), start(at, use(id, 'f', { q: 1 }))],
        ]) {
          expect(namedIn(await ended(...again))).toEqual(['f {"q":1}'])
        }
        const turned = [start(at, use(id, 'f', { q: 1, r: 2 })), start(at, use(id, 'f', { r: 2, q: 1 }))]
        expect(namedIn(await ended(...turned))).toEqual(['f {"q":1,"r":2}'])
      }
    }
  })

  verifies('contract-25.call-ids', 'arguments before the head of their call are its own', async () => {
    const first = [start(0, use('a')), json(0, '{"q":1}')]
    const late = [json(1, '{"r"'), json(1, ':2}'), start(1, use('b', 'g'))]
    expect(namedIn(await ended(...first, ...late))).toEqual(['f {"q":1}', 'g {"r":2}'])
    expect(namedIn(await ended(...late, ...first))).toEqual(['g {"r":2}', 'f {"q":1}'])
    expect(namedIn(await ended(json(0, '{"r"'), start(0, use('b', 'g')), json(0, ':2}')))).toEqual(['g {"r":2}'])
    expect(namedIn(await ended(...first, json(1, '{"r":2}')))).toEqual(['f {"q":1}'])
  })

  verifies('contract-25.call-ids', 'arguments at a wrong index, or at none, reach the newest call', async () => {
    const both = ['f {"q":1}', 'f {"q":2}']
    const [first, second] = [start(1, use('a')), start(2, use('b'))]
    for (const sent of [
      [first, json(0, '{"q":1}'), json(0, '\n'), second, json(0, '{"q":2}')],
      [first, json(undefined, '{}'), json(undefined, '{"q":1}'), second, json(undefined, '{"q":2}')],
      [start(1, use('a', 'f', { q: 1 })), json(0, '{"q":1}'), second, json(0, '{"q":2}')],
      [first, json(1, '{"q":1}'), json(0, '{"q":2}'), second],
    ]) {
      expect(namedIn(await ended(...sent))).toEqual(both)
    }
    const repeated = [start(1, use('a', 'f', { q: 1 })), json(0, '{"q":1}'), second]
    expect(namedIn(await ended(...repeated))).toEqual(['f {"q":1}', 'f {}'])
    const events = await ended(text(0, 'A'), first, json(1, '{"q":1}'), json(0, ' '), text(0, 'B'))
    expect([joined(events, 'text'), JSON.stringify(events.at(-1))]).toEqual(['AB', expect.stringContaining('"AB"')])
  })

  verifies('contract-25.call-ids', 'arguments that come as text are that text', async () => {
    expect(callsIn(await ended(start(0, use('a', 'f', '{"q":1}'))))).toEqual(['{"q":1}'])
  })

  verifies('contract-19.slips', 'arguments mean one object: behind {}, once more, or null', async () => {
    for (const sent of ['{}{"a":1}', '{"a":1}{"a": 1}', '{"a":1}']) {
      expect(callsIn(await ended(start(0, use('a')), json(0, sent)))).toEqual(['{"a":1}'])
    }
    for (const sent of ['null', '']) expect(callsIn(await ended(start(0, use('a')), json(0, sent)))).toEqual(['{}'])
  })
})
