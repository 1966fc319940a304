/** The Responses API (contract section 19): what is asked, what is read, what goes back. */
import { describe, expect, test } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, scene, spoken } from '../scene.ts'
import { answered, calling, done, requestFor, respond, text, thinking, tool, usage, used } from './scene.ts'

describe('what is sent', () => {
  verifies(
    'contract-19.responses-request',
    'prompt, history, tools and fields in the words of the Responses API',
    async () => {
      const { up, model } = await scene()
      up.always((call) => respond(call, [text('ok')]))
      const messages: ModelMessage[] = [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'let me see', toolCalls: [{ id: 'call_0', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'call_0', content: 'r' },
      ]
      const fields = {
        maxTokens: { name: 'max_tokens', value: 99 },
        reasoningEffort: 'low',
        parallelToolCalls: false,
        responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      } as const
      await ask(
        model,
        requestFor(up, {
          system: 'be kind',
          messages,
          fields,
          tools: [{ ...tool, strict: true }],
          toolChoice: { name: 'f' },
        }),
      )
      const { body, path } = await up.call(1)
      expect(path).toBe('/v1/responses')
      expect(body).toEqual({
        model: 'gpt-5.6-luna',
        stream: true,
        store: false,
        instructions: 'be kind',
        input: [
          { type: 'message', role: 'user', content: 'q' },
          { type: 'message', role: 'assistant', content: 'let me see' },
          { type: 'function_call', call_id: 'call_0', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_0', output: 'r' },
        ],
        tools: [{ type: 'function', name: 'f', description: 'd', parameters: tool.inputSchema, strict: true }],
        tool_choice: { type: 'function', name: 'f' },
        parallel_tool_calls: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'low' },
        max_output_tokens: 99,
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      })
    },
  )

  verifies(
    'contract-19.responses-request',
    'a summary is asked for where nothing gives way to it; a sampling that the model refuses is left out',
    async () => {
      const { up, model } = await scene()
      up.always((call) => respond(call, [text('ok')]))
      await ask(model, requestFor(up, { reasoning: true }))
      await ask(model, requestFor(up, { reasoning: true, config: { temperature: 0.5, topK: 3 } }))
      await ask(model, requestFor(up, { reasoning: true, fields: { maxTokens: { name: 'max_tokens', value: 99 } } }))
      await ask(model, requestFor(up, { reasoning: true, fields: { reasoningEffort: 'none' } }))
      const config = { temperature: 0.5, topP: 0.9 }
      await ask(model, requestFor(up, { reasoning: true, model: 'gpt-4.1', config }))
      const bodies = up.calls.map(({ body: { reasoning, include, temperature, top_p } }) => ({
        ...{ reasoning, include, temperature, top_p },
      }))
      const include = ['reasoning.encrypted_content']
      expect(bodies).toEqual([
        ...[{ reasoning: { summary: 'auto' }, include }, { include }, { include }],
        ...[
          { reasoning: { effort: 'none' }, include },
          { temperature: 0.5, top_p: 0.9 },
        ],
      ])
    },
  )

  verifies(
    'contract-25.tool-schemas',
    'a schema that the vendor refuses is offered as it takes it on this API too',
    async () => {
      const { up, model } = await scene()
      up.always((call) => respond(call, [text('ok')]))
      const properties = { paths: { type: 'array' }, scope: { type: 'string' } }
      const inputSchema = { type: 'object', properties, anyOf: [{ required: ['paths'] }, { required: ['scope'] }] }
      await ask(model, requestFor(up, { tools: [{ ...tool, inputSchema }] }))
      const offered = { type: 'object', properties: { ...properties, paths: { type: 'array', items: {} } } }
      expect((await up.call(1)).body.tools[0].parameters).toEqual(offered)
    },
  )

  test('tools are not strict unless the caller says so, and a picture is an input_image', async () => {
    const { up, model } = await scene()
    up.always((call) => respond(call, [text('ok')]))
    const bytes = Buffer.from('picture')
    const part = {
      type: 'image_url',
      mediaType: 'image/png',
      filename: null,
      detail: 'high',
      sha256: 'a'.repeat(64),
      size: bytes.length,
      sourceUrl: null,
      place: 4,
      async *read() {
        yield bytes
      },
    } as const
    const messages: ModelMessage[] = [{ role: 'user', content: 'look', segments: ['look', part] }]
    await ask(model, requestFor(up, { tools: [tool], messages }))
    const { body } = await up.call(1)
    expect(body.tools[0].strict).toBe(false)
    expect(body.input[0].content).toEqual([
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: `data:image/png;base64,${bytes.toString('base64')}`, detail: 'high' },
    ])
  })
})

describe('what comes back', () => {
  verifies('contract-19.responses-events', 'text, refusals, reasoning in parts, calls, usage and the end', async () => {
    const { up, model } = await scene()
    const summary = (part: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: part,
      delta,
    })
    up.next((call) =>
      respond(call, [
        summary(0, 'First'),
        summary(0, ' thought'),
        summary(1, 'Second'),
        { type: 'response.output_text.delta', output_index: 1, delta: 'Hel' },
        { type: 'response.output_text.delta', output_index: 1, delta: 'lo' },
        { type: 'response.refusal.delta', output_index: 2, delta: ' no' },
        { type: 'response.made_up.event', output_index: 3 },
        done(4, calling),
      ]),
    )
    expect(spoken(await ask(model, requestFor(up, { reasoning: true })))).toEqual([
      { type: 'reasoning', text: 'First' },
      { type: 'reasoning', text: ' thought' },
      { type: 'reasoning', text: '\n\nSecond' },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'text', text: ' no' },
      { type: 'tool_call', call: { id: 'call_1', name: 'f', arguments: '{"a":1}' } },
      { type: 'end', reason: 'tool_calls', usage: used },
    ])
  })

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('incomplete because of %s ends as %s', async (reason, end) => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.data(text('a'))
      const response = { status: 'incomplete', incomplete_details: { reason }, usage }
      await call.data({ type: 'response.incomplete', response })
      call.end()
    })
    expect((await ask(model, requestFor(up))).at(-1)).toEqual({ type: 'end', reason: end, usage: used })
  })

  test('reasoning whose part has no number is one part', async () => {
    const { up, model } = await scene()
    const part = { type: 'response.reasoning_text.delta', output_index: 0 }
    // Text made of such an object is a TypeError.
    const odd = { toString: 1 }
    up.next((call) =>
      respond(
        call,
        [part, { ...part, content_index: odd }].map((one) => ({ ...one, delta: 'a' })),
      ),
    )
    expect(spoken(await ask(model, requestFor(up, { reasoning: true })))).toEqual([
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'a' },
      { type: 'end', reason: 'stop', usage: used },
    ])
  })

  test('an answer whose items come without deltas, or in its end alone, is read whole and once', async () => {
    const { up, model } = await scene()
    const message = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'whole' }] }
    up.next((call) => respond(call, [done(0, message)], { output: [message, calling] }))
    expect(spoken(await ask(model, requestFor(up)))).toEqual([
      { type: 'text', text: 'whole' },
      { type: 'tool_call', call: { id: 'call_1', name: 'f', arguments: '{"a":1}' } },
      { type: 'end', reason: 'tool_calls', usage: used },
    ])
  })

  verifies(
    'contract-19.responses-events',
    'an error before any text counts by its code; a stream without an end has broken off',
    async () => {
      const { up, model } = await scene({ providerRetries: 1 })
      const failing = async (call: UpstreamCall, code: string) => {
        const error = { code, message: `it is ${code}` }
        await call.data({ type: 'response.failed', response: { status: 'failed', error } })
        call.end()
      }
      up.next((call) => failing(call, 'server_error'))
      up.next((call) => failing(call, 'rate_limit_exceeded'))
      expect(failureIn(await ask(model, requestFor(up)))).toMatchObject({
        code: 'provider_rate_limited',
        message: expect.stringContaining('it is rate_limit_exceeded'),
      })
      expect(up.calls).toHaveLength(2)
      up.next(async (call) => {
        await call.data(text('half'))
        call.end()
      })
      expect(failureIn(await ask(model, requestFor(up))).message).toContain('ended early')
      expect(up.calls).toHaveLength(3)
    },
  )
})

describe('what goes back with results', () => {
  verifies(
    'contract-19.responses-items-back',
    'the items of the turn in order, under the ids that its results have',
    async () => {
      const { up, model } = await scene()
      const phase = { phase: 'commentary', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] }
      const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', ...phase }
      up.next((call) => respond(call, [done(0, thinking), done(1, message), done(2, calling)]))
      up.always((call) => respond(call, [text('ok')]))
      const asked: ModelMessage[] = [{ role: 'user', content: 'q' }]
      const messages = answered(asked, await ask(model, requestFor(up, { tools: [tool] })))
      await ask(model, requestFor(up, { tools: [tool], messages }))
      const input = (await up.call(2)).body.input
      expect(input).toEqual([
        { type: 'message', role: 'user', content: 'q' },
        thinking,
        message,
        calling,
        { type: 'function_call_output', call_id: 'call_1', output: 'of call_1' },
      ])
      // Another model knows nothing of these items: a call without its reasoning goes without its id.
      await ask(model, requestFor(up, { tools: [tool], messages, model: 'gpt-4.1' }))
      expect((await up.call(3)).body.input.slice(1, 2)).toEqual([
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
      ])
    },
  )

  verifies(
    'contract-19.responses-items-back',
    'a call whose id was given before goes back under the new id that its result has',
    async () => {
      const { up, model } = await scene()
      up.next((call) => respond(call, [done(0, thinking), done(1, calling)]))
      up.always((call) => respond(call, [text('ok')]))
      const [question, turn] = answered([{ role: 'user', content: 'q' }], await ask(model, requestFor(up)))
      if (question === undefined || turn?.role !== 'assistant') throw new Error('the turn is missing')
      const toolCalls = turn.toolCalls?.map((call) => ({ ...call, id: 'second' }))
      const result: ModelMessage = { role: 'tool', toolCallId: 'second', content: 'r' }
      await ask(model, requestFor(up, { messages: [question, { ...turn, ...(toolCalls && { toolCalls }) }, result] }))
      const input = (await up.call(2)).body.input
      expect(input.slice(1)).toEqual([
        thinking,
        { ...calling, call_id: 'second' },
        { type: 'function_call_output', call_id: 'second', output: 'r' },
      ])
    },
  )

  test('reasoning that is not encrypted does not go back: nothing is stored that its id could name', async () => {
    const { up, model } = await scene()
    up.next((call) => respond(call, [done(0, { ...thinking, encrypted_content: null }), done(1, calling)]))
    const end = (await ask(model, requestFor(up))).at(-1)
    expect(end).toEqual({ type: 'end', reason: 'tool_calls', usage: used })
  })
})
