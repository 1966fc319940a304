/** Reasoning that chat-completions vendors want back within a reply. (Contract section 12.) */
import { describe, expect, test } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { look } from '../native/native-scene.ts'
import { ask, connectionTo, failureIn, requestTo, scene } from '../scene.ts'

describe('what goes back with the results of tools', () => {
  const rule = 'contract-12.reasoning-back' as const
  const detail = { type: 'reasoning.text', index: 0, format: 'x' }
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }

  async function echoed(deltas: readonly object[], type: string, second: Partial<ModelRequest> = {}, reasoning = true) {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next(async (upCall) => {
      for (const delta of [...deltas, { tool_calls: [call] }]) await upCall.delta({ ...delta })
      await upCall.finish('tool_calls')
    })
    up.always((upCall) => upCall.finish())
    const provider = connectionTo(up.url, type)
    const end = (await ask(model, requestTo(null, { provider, tools: [look], reasoning }))).at(-1)
    const echo = end?.type === 'end' ? end.echo : undefined
    const messages: ModelMessage[] = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }],
        ...(echo && { echo }),
      },
      { role: 'tool', toolCallId: 'a', content: 'seen' },
    ]
    const events = await ask(model, requestTo(null, { provider, messages, ...second }))
    return { up, model, events, provider, messages, back: (await up.call(2)).body.messages[1] }
  }
  const plain = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: call.function }],
  }
  const blank = { ...plain, reasoning_content: ' ' }

  /** A reply of before: it has called, and answered. */
  const earlier: ModelMessage[] = [
    { role: 'user', content: 'before' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'e', name: 'look', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'e', content: 'seen' },
    { role: 'assistant', content: 'Done.' },
  ]
  const reasoningIn = ({ body }: UpstreamCall) => {
    const messages: { role: string; reasoning_content?: string }[] = body.messages
    return messages.filter(({ role }) => role === 'assistant').map(({ reasoning_content: text = null }) => text)
  }
  /** Kimi's: each call needs its reasoning, and an empty text is none. */
  const wants = (one: UpstreamCall) => {
    const messages: { tool_calls?: unknown; reasoning_content?: string }[] = one.body.messages
    const at = messages.findIndex(({ tool_calls, reasoning_content }) => tool_calls && !reasoning_content)
    const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`
    return at < 0 ? one.finish() : one.error(400, { error: { message, type: 'invalid_request_error' } })
  }

  const vendors: [string, readonly object[], object][] = [
    ['deepseek', [{ reasoning_content: 'Hm' }, { reasoning_content: 'm.' }], { reasoning_content: 'Hmm.' }],
    ['openai-compatible', [{ reasoning: 'Hm' }, { reasoning: 'm.' }], { reasoning: 'Hmm.' }],
    [
      'openrouter',
      [
        { reasoning: 'Hm', reasoning_details: [{ ...detail, text: 'Hm', signature: null }] },
        { reasoning: 'm.', reasoning_details: [{ ...detail, text: 'm.', signature: 's' }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'e' }] },
      ],
      {
        reasoning_details: [
          { ...detail, text: 'Hmm.', signature: 's' },
          { type: 'reasoning.encrypted', index: 1, data: 'e' },
        ],
      },
    ],
    ['openai', [{ reasoning: 'Hm' }], {}],
    ['groq', [{ reasoning: 'Hm' }], {}],
    ['deepseek', [{ content: 'So' }], { reasoning_content: ' ' }],
  ]
  for (const [type, deltas, back] of vendors)
    verifies(rule, `${type}: of ${JSON.stringify(deltas)} goes back ${JSON.stringify(back)}`, async () => {
      const { back: sent } = await echoed(deltas, type)
      expect(sent).toEqual({ ...plain, ...back })
    })

  verifies(rule, 'unasked it goes back to those alone that are known to want it', async () => {
    const deltas = [{ reasoning_content: 'Hm' }]
    expect((await echoed(deltas, 'deepseek', {}, false)).back).toEqual({ ...plain, ...deltas[0] })
    expect((await echoed(deltas, 'openai-compatible', {}, false)).back).toEqual(plain)
  })

  verifies(
    rule,
    'what came beside a call goes back beside it, asked or not: Google signs the calls of Gemini 3 there',
    async () => {
      const extra_content = { google: { thought_signature: 'c2ln' } }
      const deltas = [{ tool_calls: [{ ...call, function: { name: 'look', arguments: '' }, extra_content }] }]
      const signed = { ...plain, tool_calls: plain.tool_calls.map((one) => ({ ...one, extra_content })) }
      for (const type of ['openai-compatible', 'openai']) {
        expect((await echoed(deltas, type, {}, false)).back).toEqual(signed)
        expect((await echoed(deltas, type, { model: 'model-b' }, false)).back).toEqual(plain)
      }
    },
  )

  verifies(rule, 'another model, and another provider, get the calls without it', async () => {
    const deltas = [{ reasoning_content: 'Hm' }]
    expect((await echoed(deltas, 'deepseek', { model: 'model-b' })).back).toEqual(blank)
    expect((await echoed(deltas, 'openrouter', { model: 'model-b' })).back).toEqual(plain)
    const { up, model, messages, provider } = await echoed(deltas, 'deepseek')
    await ask(model, requestTo(null, { provider: { ...provider, id: 'p2' }, messages }))
    expect((await up.call(3)).body.messages[1]).toEqual(blank)
  })

  verifies(
    rule,
    'DeepSeek, which wants it of every answer once there are tools, gets a blank for that of earlier replies',
    async () => {
      const { up, model } = await scene()
      up.always((one) => one.finish())
      const provider = connectionTo(up.url, 'deepseek')
      const next: ModelMessage = { role: 'user', content: 'now' }
      await ask(model, requestTo(up, { provider, messages: [...earlier, next] }))
      const chat: ModelMessage[] = [next, { role: 'assistant', content: 'Yes.' }, next]
      await ask(model, requestTo(up, { provider, messages: chat, tools: [look] }))
      await ask(model, requestTo(up, { provider, messages: chat }))
      const begun: ModelMessage = { role: 'assistant', content: 'I', isBeginning: true }
      await ask(model, requestTo(up, { provider, messages: [...earlier, next, begun] }))
      expect(up.calls.map(reasoningIn)).toEqual([[' ', ' '], [' '], [null], [' ', ' ', null]])
    },
  )

  for (const isAsked of [false, true])
    verifies(
      [rule, 'contract-19.optional-fields'],
      `a server that says that it is missing is sent that of the reply, and blanks for others, from then on (asked: ${isAsked})`,
      async () => {
        const { up, model, messages, provider } = await echoed(
          [{ reasoning_content: 'Hm' }],
          'openai-compatible',
          {},
          isAsked,
        )
        up.always(wants)
        const request = requestTo(null, { provider, messages: [...earlier, ...messages] })
        for (const _ of [1, 2]) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
        const [first, ...others] = up.calls.slice(2).map(reasoningIn)
        expect(first).toEqual([null, null, isAsked ? 'Hm' : null])
        expect(others).toEqual([
          [' ', ' ', 'Hm'],
          [' ', ' ', 'Hm'],
        ])
      },
    )

  const words = [
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'Missing `reasoning_content` field in the assistant message at message index 1.',
    'preserved thinking requires reasoning_content on every assistant message',
  ]
  for (const message of words)
    test(`who is not content with it either is not asked a third time: ${message}`, async () => {
      const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai', {}, false)
      up.always((one) => one.error(400, { error: { message } }))
      const events = await ask(model, requestTo(null, { provider, messages }))
      expect(failureIn(events).message).toContain(message)
      expect(up.calls.slice(2).map(reasoningIn)).toEqual([[null], [' ']])
    })

  test('a gateway with a server that wants it and one that refuses it is answered by both, each time', async () => {
    const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai-compatible')
    const refuses = (one: UpstreamCall) =>
      reasoningIn(one).some((text) => text !== null)
        ? one.error(400, { error: { message: 'Unsupported parameter: reasoning_content' } })
        : one.finish()
    const request = requestTo(null, { provider, messages })
    for (const server of [refuses, wants, refuses, wants]) {
      up.always(server)
      expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
    }
  })

  test('a server that refuses it is asked once more without, then spared', async () => {
    const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai-compatible')
    up.next((one) =>
      one.error(422, { detail: [{ msg: 'Extra inputs are not permitted', loc: ['reasoning_content'] }] }),
    )
    for (const _ of [1, 2]) {
      expect((await ask(model, requestTo(null, { provider, messages }))).at(-1)).toMatchObject({ type: 'end' })
    }
    const backs = up.calls.slice(2).map(({ body }) => body.messages[1])
    expect(backs).toEqual([{ ...plain, reasoning_content: 'Hm' }, plain, plain])
  })
})
