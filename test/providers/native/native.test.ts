/** Anthropic and Gemini against a server of ours with the documented wire format. */
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import { heard } from '../../support/streams/model-stream.ts'
import { ask, connectionTo, failureIn, key, spoken, textOf } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'
import { both, look, open, vendors } from './native-scene.ts'

describe.each(both)('%s', (vendor) => {
  test('words, end and usage', async () => {
    const { up, model, request } = await open(vendor)
    up.next(vendors[vendor].tells({ text: ['Hel', 'lo'] }))
    expect(spoken(await ask(model, request({ system: 'Be brief.' }))).filter(({ type }) => type !== 'usage')).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'end', reason: 'stop', usage: { promptTokens: 5, completionTokens: 7 } },
    ])
    const { body, headers } = await up.call(1)
    expect(JSON.stringify(body)).toContain('Be brief.')
    expect(headers['user-agent']).toBe('greenroom')
    expect(Object.keys(headers).filter((name) => name.startsWith('x-stainless') || name === 'traceparent')).toEqual([])
  })

  test('lists its models, with or without the version in the base URL', async () => {
    const { up, model } = await open(vendor)
    const path = vendor === 'anthropic' ? '/v1' : '/v1beta'
    for (const base of [up.base, `${up.base}/`, `${up.base}${path}`]) {
      expect(await model.testProvider(connectionTo(base, vendor))).toMatchObject({
        ok: true,
        models: [vendor === 'anthropic' ? 'claude-opus-5-5' : 'gemini-3-flash'],
      })
    }
    expect(new Set(up.requests)).toHaveLength(1)
    expect(up.requests[0]).toMatch(vendor === 'anthropic' ? /^GET \/v1\/models\?/ : /^GET \/v1beta\/models\?/)
  })

  test('a call goes back with its result as the vendor wants it', async () => {
    const { up, model, request } = await open(vendor)
    up.next(
      vendor === 'anthropic'
        ? anthropic.tells({
            thinking: 'Hm.',
            text: ['Let me look.'],
            calls: [
              { id: 'toolu_1', name: 'look', input: { q: 'Zürich "x"' } },
              { id: 'toolu_2', name: 'look', input: {} },
            ],
          })
        : gemini.tells({
            text: ['Let me ', 'look.'],
            calls: [
              { id: 'g1', name: 'look', args: { q: 'Zürich "x"' }, thoughtSignature: 'c2lnbmVk' },
              { id: 'g2', name: 'look', args: {} },
            ],
          }),
    )
    up.next(vendors[vendor].tells({ text: ['Found.'] }))
    const first = await ask(model, request({ tools: [look] }))
    const calls = first.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
    const end = first.at(-1)
    expect(calls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([
      ['look', { q: 'Zürich "x"' }],
      ['look', {}],
    ])
    expect(end).toMatchObject({ type: 'end', reason: 'tool_calls' })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: calls,
        ...(end?.type === 'end' && end.echo && { echo: end.echo }),
      },
      ...calls.map(({ id }): ModelMessage => ({ role: 'tool', toolCallId: id, content: `result of ${id}` })),
    ]
    expect(textOf(await ask(model, request({ tools: [look], messages })))).toBe('Found.')
    const { body } = await up.call(2)
    expect(vendor === 'anthropic' ? body.messages.slice(1) : body.contents.slice(1)).toEqual(wantedBack[vendor])
    // The last call that the agent may make has been made: the history still speaks of tools.
    up.next(vendors[vendor].tells({ text: ['Enough.'] }))
    expect(textOf(await ask(model, request({ messages })))).toBe('Enough.')
    const without = (await up.call(3)).body
    if (vendor === 'anthropic') expect(without.tool_choice).toEqual({ type: 'none' })
    else expect(without.toolConfig).toEqual({ functionCallingConfig: { mode: 'NONE' } })
  })

  test('any history is taken, with and without tools', async () => {
    const { up, model, request } = await open(vendor)
    up.always(vendors[vendor].tells({ text: ['ok'] }))
    const words = fc.constantFrom('', ' ', 'a', 'Ω\n')
    const call = fc.record({
      id: fc.constantFrom('call_1', 'functions.look:0', 'ü'),
      name: fc.constantFrom('look', 'gone'),
      arguments: fc.constantFrom('{"q":1}', '[1]', '{"q'),
    })
    const said = fc.record({ content: words, calls: fc.array(call, { maxLength: 2 }) })
    const turns = fc.array(fc.tuple(words, fc.array(said, { maxLength: 3 })), { maxLength: 4 })
    const property = fc.asyncProperty(turns, fc.boolean(), async (list, offered) => {
      const messages = list.flatMap(([content, replies]): ModelMessage[] => [
        { role: 'user', content },
        ...replies.flatMap((reply): ModelMessage[] => [
          { role: 'assistant', content: reply.content, ...(reply.calls.length > 0 && { toolCalls: reply.calls }) },
          ...reply.calls.map(({ id }): ModelMessage => ({ role: 'tool', toolCallId: id, content: reply.content })),
        ]),
      ])
      const all: ModelMessage[] = [...messages, { role: 'user', content: 'newest' }]
      const events = await ask(model, request({ messages: all, tools: offered ? [look] : [] }))
      if (events.at(-1)?.type === 'failed') throw new Error(failureIn(events).detail)
    })
    await fc.assert(property, { numRuns: 60 })
  })

  test('nothing of the environment is used', async () => {
    const { up, model, request } = await open(vendor)
    const foreign = { ANTHROPIC_API_KEY: 'a', ANTHROPIC_CUSTOM_HEADERS: 'x-odd: 1', ANTHROPIC_BASE_URL: 'http://no' }
    const google = { GEMINI_API_KEY: 'g', GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_GENAI_API_VERSION: 'v9' }
    Object.assign(process.env, foreign, google)
    onTestFinished(() => {
      for (const name of Object.keys({ ...foreign, ...google })) delete process.env[name]
    })
    up.next(vendors[vendor].tells({ text: ['ok'] }))
    expect(textOf(await ask(model, request()))).toBe('ok')
    const { headers } = await up.call(1)
    expect(headers[vendor === 'anthropic' ? 'x-api-key' : 'x-goog-api-key']).toBe(key)
    expect(headers['x-odd']).toBeUndefined()
  })

  test('a caller that leaves closes the connection', async () => {
    const { up, model, request } = await open(vendor)
    const begun =
      vendor === 'anthropic' ? anthropic.turn({ text: ['some'] }).slice(0, 900) : gemini.parts([{ text: 'some' }])
    up.next((call) => call.raw(begun))
    const leave = new AbortController()
    for await (const event of heard(model, request(), leave.signal)) if (event.type === 'text') leave.abort()
    await (await up.call(1)).closed
    expect((await up.call(1)).abandoned).toBe(true)
  })

  test('silence for too long is a time-out', async () => {
    const { up, model, request } = await open(vendor, { idleTimeoutMs: 50, providerRetries: 0 })
    up.next((call) => call.open())
    expect(failureIn(await ask(model, request())).code).toBe('provider_timeout')
  })
})

const wantedBack = {
  anthropic: [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 'Zürich "x"' } },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'result of toolu_1' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          content: 'result of toolu_2',
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  gemini: [
    {
      role: 'model',
      parts: [
        { text: 'Let me look.' },
        { functionCall: { id: 'g1', name: 'look', args: { q: 'Zürich "x"' } }, thoughtSignature: 'c2lnbmVk' },
        { functionCall: { id: 'g2', name: 'look', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'g1', name: 'look', response: { output: 'result of g1' } } },
        { functionResponse: { id: 'g2', name: 'look', response: { output: 'result of g2' } } },
      ],
    },
  ],
}
