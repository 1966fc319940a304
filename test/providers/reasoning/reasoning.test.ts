/** Reasoning: read where it comes, asked for where nothing gives way. (Contract section 12.) */
import { describe, expect } from 'vitest'
import type { GenerationConfig, ModelEvent, ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import { anthropicThinking, geminiThoughts } from '../../../src/providers/reasoning.ts'
import { verifies } from '../../verifies.ts'
import * as anthropic from '../native/anthropic-server.ts'
import * as gemini from '../native/gemini-server.ts'
import { look, open } from '../native/native-scene.ts'
import { ask, callsOf, failureIn, requestTo, scene, spoken } from '../scene.ts'

const reasoningOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'reasoning' || event.type === 'text' ? [[event.type, event.text]] : []))

describe('chat completions', () => {
  const both = { reasoning: 'Hm', reasoning_content: 'Hm' }
  for (const delta of [
    { reasoning_content: 'Hm' },
    { reasoning: 'Hm' },
    both,
    { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] },
  ])
    verifies('contract-12.reasoning', `${JSON.stringify(delta)} is read, and nothing of it is asked for`, async () => {
      const { up, model } = await scene()
      up.always(async (call) => {
        await call.delta({ role: 'assistant', content: '', ...delta })
        await call.delta({ reasoning_content: 'm.', content: 'So' })
        await call.finish()
      })
      expect(reasoningOf(await ask(model, requestTo(up, { reasoning: true })))).toEqual([
        ['reasoning', 'Hm'],
        ['reasoning', 'm.'],
        ['text', 'So'],
      ])
      const unasked = spoken(await ask(model, requestTo(up)))
      expect(unasked.map(({ type }) => type)).toEqual(['text', 'end'])
      expect((await up.call(1)).body).toEqual((await up.call(2)).body)
    })

  verifies('contract-12.reasoning', 'a whole answer without streaming is read too', async () => {
    const { up, model } = await scene()
    up.always((call) =>
      call.json({ choices: [{ index: 0, message: { content: 'So', reasoning: 'Hm' }, finish_reason: 'stop' }] }),
    )
    expect(reasoningOf(await ask(model, requestTo(up, { reasoning: true })))).toEqual([
      ['reasoning', 'Hm'],
      ['text', 'So'],
    ])
  })
})

const thinks = { thinking: 'Hm.', text: ['So'] }

describe('Anthropic', () => {
  const adaptive = { type: 'adaptive', display: 'summarized' }
  const budget = { type: 'enabled', budget_tokens: 8000 }
  const asked: [string, GenerationConfig, object | undefined][] = [
    ['claude-opus-5-5', {}, adaptive],
    ['claude-sonnet-4-6', { maxToolCalls: 3 }, adaptive],
    ['claude-mythos-preview', {}, adaptive],
    ['claude-sonnet-4-5-20250929', {}, budget],
    ['claude-opus-4-20250514', {}, budget],
    ['claude-3-7-sonnet-latest', {}, budget],
    ['claude-3-5-haiku-latest', {}, undefined],
    ['claude-2.1', {}, undefined],
    ['some-gateway-model', {}, undefined],
    ['claude-sonnet-4-6', { temperature: 1 }, undefined],
    ['claude-sonnet-4-6', { topP: 0.9 }, undefined],
    ['claude-opus-5-5', { topK: 5 }, undefined],
  ]
  for (const [name, config, thinking] of asked)
    verifies(
      'contract-12.reasoning-asked',
      `${name} with ${JSON.stringify(config)} is asked with ${thinking && JSON.stringify(thinking)}`,
      async () => {
        const { up, model, request } = await open('anthropic')
        up.always(anthropic.tells(thinks))
        expect(reasoningOf(await ask(model, request({ model: name, config, reasoning: true })))).toEqual([
          ['reasoning', 'Hm.'],
          ['text', 'So'],
        ])
        await ask(model, request({ model: name, config }))
        const [first, unasked] = [(await up.call(1)).body, (await up.call(2)).body]
        expect(first).toEqual({ ...unasked, ...(thinking && { thinking }) })
        expect(unasked).not.toHaveProperty('thinking')
      },
    )

  verifies(
    'contract-12.reasoning-asked',
    'within a budget it is not asked for where calls that wait were made without it',
    async () => {
      const { up, model, request } = await open('anthropic')
      const call = { id: 'toolu_1', name: 'look', input: {} }
      const asked = (echo: object | undefined, more: Partial<ModelRequest> = {}) => {
        const messages: ModelMessage[] = [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: 'toolu_1', name: 'look', arguments: '{}' }],
            ...(echo && { echo }),
          },
          { role: 'tool', toolCallId: 'toolu_1', content: 'seen' },
        ]
        return request({ model: 'claude-sonnet-4-5', tools: [look], reasoning: true, messages, ...more })
      }
      const echoOf = async (told: anthropic.Told) => {
        up.next(anthropic.tells(told))
        const end = (await ask(model, request({ model: 'claude-sonnet-4-5', tools: [look], reasoning: true }))).at(-1)
        return end?.type === 'end' ? end.echo : undefined
      }
      const thought = await echoOf({ thinking: 'Hm.', calls: [call] })
      const unthought = await echoOf({ calls: [call] })
      up.always(anthropic.tells({ text: ['ok'] }))
      await ask(model, asked(thought))
      await ask(model, asked(unthought))
      await ask(model, asked(undefined))
      await ask(model, asked(undefined, { model: 'claude-opus-5-5' }))
      const bodies = up.calls.slice(2).map(({ body }) => body)
      expect(bodies.map(({ thinking }) => thinking?.type)).toEqual(['enabled', undefined, undefined, 'adaptive'])
      expect(bodies.map(({ messages }) => messages[1].content[0].type)).toEqual([
        'thinking',
        'tool_use',
        'tool_use',
        'tool_use',
      ])
    },
  )
})

verifies('contract-12.reasoning-asked', 'a limit of tokens, and an effort of none, are left alone', async () => {
  const claude = { model: 'claude-opus-5-5', config: {}, reasoning: true }
  expect(anthropicThinking({ ...claude, fields: { reasoningEffort: 'low' } })).toMatchObject({ type: 'adaptive' })
  expect(anthropicThinking({ ...claude, fields: { maxTokens: { name: 'max_tokens', value: 100 } } })).toBeNull()
  const model = { model: 'gemini-2.5-flash', config: {}, reasoning: true }
  expect(geminiThoughts({ ...model, fields: { maxTokens: { name: 'max_tokens', value: 100 } } })).toEqual({
    includeThoughts: true,
  })
  expect(geminiThoughts({ ...model, fields: { reasoningEffort: 'none' } })).toBeNull()
})

describe('Gemini', () => {
  const thoughts = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
  const asked: [string, object][] = [
    ['gemini-2.5-pro', thoughts],
    ['gemini-3-flash', thoughts],
    ['gemini-flash-latest', thoughts],
    ['gemini-2.0-flash', {}],
    ['gemini-2.5-flash-image', {}],
    ['gemma-3', {}],
  ]
  for (const [name, config] of asked)
    verifies('contract-12.reasoning-asked', `${name} is asked with ${JSON.stringify(config)}`, async () => {
      const { up, model, request } = await open('gemini')
      up.always(async (call) => {
        await call.raw(gemini.parts([{ text: 'Hm.', thought: true }, { text: 'So' }]) + gemini.turn({}))
        call.end()
      })
      expect(reasoningOf(await ask(model, request({ model: name, reasoning: true })))).toEqual([
        ['reasoning', 'Hm.'],
        ['text', 'So'],
      ])
      expect(reasoningOf(await ask(model, request({ model: name })))).toEqual([['text', 'So']])
      const [first, unasked] = [(await up.call(1)).body, (await up.call(2)).body]
      expect(first).toEqual({ ...unasked, ...config })
      expect(unasked.generationConfig).toEqual({})
    })
})

describe('a provider that refuses to be asked', () => {
  const rule = 'contract-12.reasoning-asked' as const
  const refuse = async (call: { error(status: number, body: unknown): void }, status = 400) =>
    call.error(status, { error: { message: 'Bad request.' } })
  const told = { anthropic: anthropic.tells({ text: ['ok'] }), gemini: gemini.tells({ text: ['ok'] }) }

  for (const vendor of ['anthropic', 'gemini'] as const)
    verifies(rule, `${vendor}: is asked once more without, then spared`, async () => {
      const { up, model, request } = await open(vendor)
      const retried: unknown[] = []
      const calls = callsOf({ retried: (how: unknown) => void retried.push(how) })
      const asks = (body: object) => /thinking/.test(JSON.stringify(body))
      up.always((call) => (asks(call.body) ? refuse(call) : told[vendor](call)))
      for (const _ of [1, 2]) {
        expect(spoken(await ask(model, request({ reasoning: true, calls }))).at(-1)).toMatchObject({ reason: 'stop' })
      }
      expect(up.calls.map(({ body }) => asks(body))).toEqual([true, false, false])
      expect(retried).toEqual([])
      // Another model of the same provider is another matter.
      const other = vendor === 'anthropic' ? 'claude-sonnet-5' : 'gemini-2.5-pro'
      await ask(model, request({ reasoning: true, model: other }))
      expect(up.calls).toHaveLength(5)
    })

  verifies(rule, 'what is refused without it too is told once, and nothing is remembered', async () => {
    const { up, model, request } = await open('anthropic')
    up.next((call) => refuse(call))
    up.next((call) => call.error(422, { error: { message: 'Still bad.' } }))
    up.always(told.anthropic)
    expect(failureIn(await ask(model, request({ reasoning: true }))).message).toContain('Still bad')
    await ask(model, request({ reasoning: true }))
    expect(up.calls.map(({ body }) => body.thinking !== undefined)).toEqual([true, false, true])
  })

  verifies(rule, 'a refused key, and a call that did not ask, are asked once', async () => {
    const { up, model, request } = await open('anthropic')
    up.always((call) => refuse(call, 401))
    await ask(model, request({ reasoning: true }))
    expect(up.calls).toHaveLength(1)
    up.always((call) => refuse(call))
    await ask(model, request())
    await ask(model, request({ reasoning: true, config: { temperature: 1 } }))
    expect(up.calls).toHaveLength(3)
  })
})

verifies(
  'contract-10.no-second-call',
  'reasoning that was asked for and sent: the call is not made again',
  async () => {
    const cut = (bytes: string) => async (call: { raw(bytes: string): Promise<void>; end(): void }) => {
      await call.raw(bytes)
      call.end()
    }
    const chat = await scene({ providerRetries: 1 })
    chat.up.always(cut('data: {"choices":[{"index":0,"delta":{"reasoning":"Hm."}}]}\n\n'))
    expect(failureIn(await ask(chat.model, requestTo(chat.up, { reasoning: true }))).message).toContain('ended early')
    const one = await open('gemini', { providerRetries: 1 })
    one.up.always(cut(gemini.parts([{ text: 'Hm.', thought: true }])))
    expect(failureIn(await ask(one.model, one.request({ reasoning: true }))).message).toContain('ended early')
    expect([chat.up.calls.length, one.up.calls.length]).toEqual([1, 1])
  },
)
