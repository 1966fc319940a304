import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ModelEvent, ModelMessage } from '../../src/actors/ports/index.ts'
import { heard } from '../support/streams/model-stream.ts'
import { ask, aTokenEach, connectionTo, failureIn, key, requestTo, scene, spoken } from './scene.ts'

const end = (reason = 'stop', usage: unknown = null) => ({ type: 'end', reason, usage })

describe('what is sent', () => {
  test('system prompt first, settings, tools and the key; nothing from the environment', async () => {
    const { up, model } = await scene()
    const environment = {
      OPENAI_API_KEY: 'sk-environment',
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
      OPENAI_ORG_ID: 'org-environment',
      OPENAI_PROJECT_ID: 'proj-environment',
      OPENAI_CUSTOM_HEADERS: 'x-environment: leaked\nauthorization: Bearer environment',
      HTTP_PROXY: 'http://127.0.0.1:9',
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    up.next((call) => call.finish())
    const inputSchema = { type: 'object', properties: {} }
    const tools = [{ name: 't', description: 'd', inputSchema }]
    const config = { temperature: 0.5, topP: 0.9, topK: 7, maxToolCalls: 3 }
    await ask(model, requestTo(up, { system: 'be kind', config, tools }))
    const { body, headers, path } = await up.call(1)
    expect(path).toBe('/v1/chat/completions')
    expect(body).toEqual({
      model: 'model-a',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hi' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 7,
      tools: [
        { type: 'function', function: { name: 't', description: 'd', parameters: { type: 'object', properties: {} } } },
      ],
    })
    expect(headers.authorization).toBe(`Bearer ${key}`)
    expect(JSON.stringify(headers)).not.toContain('environment')
  })

  test.each([
    ['openai', false, true],
    ['openrouter', true, true],
    ['ollama', false, true],
    ['mistral', false, false],
    ['openai-compatible', true, true],
  ])('%s: top_k sent %s, stream_options sent %s', async (type, topK, usage) => {
    const { up, model } = await scene()
    up.next((call) => call.finish())
    await ask(model, requestTo(up, { provider: connectionTo(up.url, type), config: { topK: 5 } }))
    const { body } = await up.call(1)
    expect('top_k' in body).toBe(topK)
    expect('stream_options' in body).toBe(usage)
  })

  test('tool calls and results of earlier turns; Mistral takes only ids of nine characters', async () => {
    const { up, model } = await scene()
    const messages: ModelMessage[] = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"a":1}' }] },
      { role: 'tool', toolCallId: 'call_1', content: 'r' },
    ]
    up.always((call) => call.finish())
    await ask(model, requestTo(up, { messages }))
    await ask(model, requestTo(up, { messages, provider: connectionTo(up.url, 'mistral') }))
    expect((await up.call(1)).body.messages).toEqual([
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'r' },
    ])
    const [, made, result] = (await up.call(2)).body.messages
    expect(made.tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(result.tool_call_id).toBe(made.tool_calls[0].id)
  })

  test('no key, no authorization header', async () => {
    const { up, model } = await scene()
    up.next((call) => call.finish())
    await ask(model, requestTo(up, { provider: { ...connectionTo(up.url), apiKey: null } }))
    expect((await up.call(1)).headers.authorization).toBeUndefined()
  })

  test.each([
    400, 422,
  ])('a server that refuses stream_options with %i is asked without, and remembered', async (status) => {
    const { up, model } = await scene()
    up.always((call) =>
      call.body.stream_options
        ? call.error(status, { error: { message: 'Unrecognized request argument: stream_options' } })
        : call.finish(),
    )
    expect(spoken(await ask(model, requestTo(up)))).toEqual([end()])
    await ask(model, requestTo(up))
    expect(up.calls.map((call) => 'stream_options' in call.body)).toEqual([true, false, false])
  })

  test('a redirect is not followed', async () => {
    const { up, model } = await scene()
    up.always((call) => call.error(307, '', { location: `${up.url}/elsewhere` }))
    expect(failureIn(await ask(model, requestTo(up))).message).toContain('The provider answered 307: a redirect')
    expect(up.calls).toHaveLength(1)
  })
})

describe('what comes back', () => {
  test('text as it comes, usage from the report (contract section 3)', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.delta({ role: 'assistant', content: '' })
      await call.text('Hel')
      await call.text('lo')
      await call.finish('stop', { prompt_tokens: 3, completion_tokens: 2 })
    })
    expect(spoken(await ask(model, requestTo(up)))).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      end('stop', { promptTokens: 3, completionTokens: 2 }),
    ])
  })

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'stop'], // without any call it is none
    ['eos', 'stop'],
  ])('finish reason %s reads %s', async (sent, read) => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('a')
      await call.finish(sent)
    })
    expect((await ask(model, requestTo(up))).at(-1)).toEqual(end(read, aTokenEach))
  })

  test('reasoning, comments and empty chunks are signs of life, not text', async () => {
    const { up, model } = await scene()
    const gate = Promise.withResolvers<void>()
    up.next(async (call) => {
      await call.comment('OPENROUTER PROCESSING')
      await gate.promise
      await call.delta({ reasoning_content: 'hm' })
      await call.delta({ reasoning: 'hm' })
      await call.delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] })
      await call.text('x')
      await call.finish()
    })
    const events = []
    for await (const event of heard(model, requestTo(up), new AbortController().signal)) {
      events.push(event)
      gate.resolve() // only once the comment was seen as life
    }
    expect(events[0]).toEqual({ type: 'activity' })
    expect(spoken(events)).toEqual([{ type: 'text', text: 'x' }, end('stop', aTokenEach)])
  })

  test('characters and surrogate pairs cut in two arrive whole, or as they were cut', async () => {
    const { up, model } = await scene()
    const frame = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: 'ß😀' } }] })}\n\n`)
    up.next(async (call) => {
      for (const byte of frame) await call.raw(Uint8Array.of(byte))
      await call.raw('data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\r\n\r\n')
      await call.raw('data: {"choices":[{"delta":{"content":"\\ude00"}}]}\r\n\r\n')
      await call.finish()
    })
    expect(spoken(await ask(model, requestTo(up))).slice(0, 3)).toEqual([
      { type: 'text', text: 'ß😀' },
      { type: 'text', text: '\ud83d' },
      { type: 'text', text: '\ude00' },
    ])
  })

  test('a completion without streaming is read as one', async () => {
    const { up, model } = await scene()
    const message = { role: 'assistant', content: 'whole' }
    const usage = { prompt_tokens: 1, completion_tokens: 1 }
    up.next((call) =>
      call.json({ object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'length' }], usage }),
    )
    const read = end('length', { promptTokens: 1, completionTokens: 1 })
    expect(spoken(await ask(model, requestTo(up)))).toEqual([{ type: 'text', text: 'whole' }, read])
  })

  test('[DONE] without a finish reason, and a finish reason without [DONE], are ends', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('a')
      await call.data('[DONE]')
      call.end()
    })
    const events: ModelEvent[] = []
    up.next(async (call) => {
      await call.delta({}, 'length')
      await expect.poll(() => events).not.toEqual([]) // a cut loses what was not read
      call.reset()
    })
    expect((await ask(model, requestTo(up))).at(-1)).toEqual(end())
    for await (const event of heard(model, requestTo(up))) events.push(event)
    expect(events.at(-1)).toEqual(end('length'))
  })

  test('the end is told at [DONE], while the stream still hangs', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('a')
      await call.delta({}, 'stop')
      await call.data('[DONE]')
    })
    expect((await ask(model, requestTo(up))).at(-1)).toEqual(end())
  })

  test('a connection is not torn down while its last bytes are on their way', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.delta({}, 'stop')
      await call.data('[DONE]')
    })
    up.always((call) => call.finish())
    await ask(model, requestTo(up))
    const first = await up.call(1)
    await ask(model, requestTo(up)) // a round trip, in which the server would see the first one leave
    expect(first.abandoned).toBe(false)
    first.end()
    await first.closed
    expect(first.abandoned).toBe(false)
  })

  test('connections are used again', async () => {
    const { up, model } = await scene()
    up.always(async (call) => {
      await call.text('a')
      await call.finish()
    })
    for (let i = 1; i <= 10; i++) {
      await ask(model, requestTo(up))
      await (await up.call(i)).closed
    }
    // Not 1: the last bytes of an answer may still be on their way when the next call begins.
    expect(up.connections.opened).toBeLessThan(10)
  })
})
