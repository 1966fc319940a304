/** Ids of calls in what goes out: vendors refuse a request in which they repeat. */
import { expect } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import { echoes as anthropic, anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { echoes as gemini, geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import { chatBody } from '../../../src/providers/openai/chat.ts'
import { echoes as chat } from '../../../src/providers/openai/chat-reasoning.ts'
import { dialectOf } from '../../../src/providers/provider-types.ts'
import { verifies } from '../../verifies.ts'

const provider = (type: string) => ({ id: 'p', type, baseUrl: null, apiKey: 'k' })

/** A turn that has called twice under one id, and its results. */
const turn = (id: string, content: string, echo?: object): ModelMessage[] => [
  { role: 'assistant', content: '', toolCalls: [call(id), call(id)], ...(echo && { echo }) },
  { role: 'tool', toolCallId: id, content: `${content} 1` },
  { role: 'tool', toolCallId: id, content: `${content} 2` },
]
const call = (id: string) => ({ id, name: 'look', arguments: '{}' })

/** Two turns under one id, of which the vendor gets `echo` back. */
const requestOf = (type: string, model: string, id: string, echo?: object): ModelRequest => ({
  provider: provider(type),
  model,
  system: null,
  config: {},
  tools: [],
  reasoning: false,
  messages: [{ role: 'user', content: 'Look!' }, ...turn(id, 'a'), ...turn(id, 'b', echo)],
})

/** All four calls have ids of their own, and each result the one of its call. */
function expectPairs(calls: readonly unknown[], results: readonly (readonly [unknown, unknown])[]): void {
  expect(new Set(calls).size).toBe(4)
  expect(results).toEqual(['a 1', 'a 2', 'b 1', 'b 2'].map((content, index) => [calls[index], content]))
}

const ids = ['call_0', '', 'functions.look:0']

for (const id of ids) {
  verifies(
    'contract-25.call-ids',
    `Anthropic gets each call under an id of its own, in what goes back too: "${id}"`,
    () => {
      const of = { provider: provider('anthropic'), model: 'claude-sonnet-4-5' }
      const use = { type: 'tool_use' as const, id, name: 'look', input: {} }
      const echo = anthropic.keep(of, [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }, use, use])
      const { messages } = anthropicBody(requestOf('anthropic', of.model, id, echo))
      const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      expectPairs(
        blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
        blocks.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block.content] as const] : [])),
      )
      expect(blocks.find(({ type }) => type === 'thinking')).toMatchObject({ signature: 'sig' })
    },
  )

  for (const type of ['openai', 'mistral']) {
    verifies('contract-25.call-ids', `${type} gets each call under an id of its own: "${id}"`, () => {
      const dialect = dialectOf(type)
      if (dialect === null || dialect === undefined) throw new Error('There is no such type.')
      const { messages } = chatBody(requestOf(type, 'm', id), dialect)
      const calls = messages.flatMap((one) => (one.role === 'assistant' ? (one.tool_calls ?? []) : []))
      expectPairs(
        calls.map((one) => one.id),
        messages.flatMap((one) => (one.role === 'tool' ? [[one.tool_call_id, one.content] as const] : [])),
      )
      if (type === 'mistral') for (const one of calls) expect(one.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    })
  }
}

verifies(
  'contract-25.call-ids',
  'a turn whose reasoning names its calls keeps the ids that the vendor gave, however long; others get short ones',
  () => {
    const id = `tool_shop__look_${'x'.repeat(30)}`
    const of = { provider: provider('openrouter'), model: 'google/gemini-3-pro' }
    const details = [{ type: 'reasoning.encrypted', id, index: 0, data: 'e' }]
    const echo = chat.keep(of, { reasoning_details: details })
    const dialect = dialectOf('openrouter')
    if (dialect === null) throw new Error('There is no such type.')
    const sent = (model: string) => {
      const request = requestOf('openrouter', model, id)
      const messages: ModelMessage[] = [
        { role: 'user', content: 'Look!' },
        { role: 'assistant', content: '', toolCalls: [call(id)], echo },
        { role: 'tool', toolCallId: id, content: 'seen' },
      ]
      return chatBody({ ...request, messages }, dialect).messages
    }
    expect(sent(of.model)).toMatchObject([
      { role: 'user' },
      { reasoning_details: details, tool_calls: [{ id }] },
      { role: 'tool', tool_call_id: id },
    ])
    const [, other] = sent('google/gemini-3-flash')
    expect(other).not.toHaveProperty('reasoning_details')
    expect(other).toMatchObject({ tool_calls: [{ id: expect.stringMatching(/^call_[0-9a-f]{24}$/) }] })
  },
)

verifies(
  'contract-25.call-ids',
  'Gemini gets the ids that it gave, none of them twice, and none where it gave none',
  () => {
    const of = { provider: provider('gemini'), model: 'gemini-3-pro' }
    const part = { functionCall: { id: 'g', name: 'look', args: {} }, thoughtSignature: 'c2ln' }
    const partsOf = (echo: object, id: string) =>
      geminiBody(requestOf('gemini', of.model, id, echo)).contents.flatMap((content) => content.parts)
    const parts = partsOf(gemini.keep(of, [part, part]), 'g')
    const given = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
    expect(new Set(given).size).toBe(2)
    const results = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []))
    expect(results.map(({ id, response }) => [id, response?.output])).toEqual([
      [undefined, 'a 1'],
      [undefined, 'a 2'],
      [given[0], 'b 1'],
      [given[1], 'b 2'],
    ])
    const { id: _, ...without } = part.functionCall
    expect(JSON.stringify(partsOf(gemini.keep(of, [{ functionCall: without }]), 'own'))).not.toContain('own')
  },
)
