/** Reasoning that chat-completions vendors want back within a reply. (Contract section 12.) */
import { describe, expect } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { look } from '../native/native-scene.ts'
import { ask, connectionTo, requestTo, scene } from '../scene.ts'
import { call, earlier, echoed, plain, reasoningIn } from './back-scene.ts'

describe('what goes back with the results of tools', () => {
  const rule = 'contract-12.reasoning-back' as const
  const detail = { type: 'reasoning.text', index: 0, format: 'x' }
  const blank = { ...plain, reasoning_content: ' ' }

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

  verifies(
    rule,
    'what is held until it is asked for lies beside what goes back: other versions send all of that, and ids stay short',
    async () => {
      const { up, model } = await scene()
      const id = 'c'.repeat(60)
      const calls = [{ ...call, id }]
      up.next(async (one) => {
        await one.delta({ reasoning_content: 'Hm', tool_calls: calls })
        await one.finish('tool_calls')
      })
      up.always((one) => one.finish())
      const provider = connectionTo(up.url, 'openai-compatible')
      const end = (await ask(model, requestTo(null, { provider, tools: [look] }))).at(-1)
      const echo = end?.type === 'end' ? end.echo : undefined
      expect(echo).toMatchObject({ what: null, held: { reasoning_content: 'Hm' } })
      const messages: ModelMessage[] = [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '', toolCalls: [{ id, name: 'look', arguments: '{}' }], ...(echo && { echo }) },
        { role: 'tool', toolCallId: id, content: 'seen' },
      ]
      await ask(model, requestTo(null, { provider, messages }))
      const short = expect.stringMatching(/^call_[0-9a-f]{24}$/)
      expect((await up.call(2)).body.messages.slice(1)).toMatchObject([
        { tool_calls: [{ id: short }] },
        { tool_call_id: short },
      ])
    },
  )
})
