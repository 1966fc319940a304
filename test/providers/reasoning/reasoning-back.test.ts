/** Reasoning that chat-completions vendors want back within a reply. (Contract section 12.) */
import { describe, expect, test } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { look } from '../native/native-scene.ts'
import { ask, connectionTo, requestTo, scene } from '../scene.ts'

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
    ['deepseek', [{ content: 'So' }], {}],
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
    expect((await echoed(deltas, 'deepseek', { model: 'model-b' })).back).toEqual(plain)
    const { up, model, messages, provider } = await echoed(deltas, 'deepseek')
    await ask(model, requestTo(null, { provider: { ...provider, id: 'p2' }, messages }))
    expect((await up.call(3)).body.messages[1]).toEqual(plain)
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
