/** What vendors want back is kept as JSON, and goes back to the provider and model that sent it alone. */
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { echoes as anthropic, anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { echoes as gemini, geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import { echoes as chat } from '../../../src/providers/openai/chat-reasoning.ts'
import { verifies } from '../../verifies.ts'

const provider = (type: string, id = 'p') => ({ id, type, baseUrl: null, apiKey: 'k' })
const stored = (echo: object): object => JSON.parse(JSON.stringify(echo))
const calls = [{ id: 'c1', name: 'look', arguments: '{"q":1}' }]
const requestOf = (type: string, model: string, echo: object, toolCalls = calls): ModelRequest => ({
  provider: provider(type),
  model,
  system: null,
  config: {},
  tools: [],
  reasoning: false,
  messages: [
    { role: 'user', content: 'Look!' },
    { role: 'assistant', content: '', toolCalls, echo },
    { role: 'tool', toolCallId: 'c1', content: 'found' },
  ],
})

verifies('contract-15.echoes', 'signed reasoning is whole after it was stored', () => {
  const thought = { type: 'thinking' as const, thinking: 'Hm.\u0000', signature: 'sig' }
  const use = { type: 'tool_use' as const, id: 'c1', name: 'look', input: { q: 1 } }
  const of = { provider: provider('anthropic'), model: 'claude-sonnet-4-5' }
  const claude = anthropicBody(requestOf('anthropic', of.model, stored(anthropic.keep(of, [thought, use]))))
  expect(claude.messages[1]).toEqual({ role: 'assistant', content: [thought, use] })
  const part = { functionCall: { id: 'c1', name: 'look', args: { q: 1 } }, thoughtSignature: 'c2ln' }
  const google = { provider: provider('gemini'), model: 'gemini-3-pro' }
  const asked = geminiBody(requestOf('gemini', google.model, stored(gemini.keep(google, [part]))))
  expect(asked.contents).toContainEqual({ role: 'model', parts: [part] })
})

verifies('contract-15.echoes', 'a name that the model made up goes back as its result has it', () => {
  const mended = [{ id: 'c1', name: 'a_b', arguments: '{}' }]
  const of = { provider: provider('anthropic'), model: 'claude-sonnet-4-5' }
  const use = { type: 'tool_use' as const, id: 'c1', name: 'a:b', input: {} }
  const claude = anthropicBody(requestOf('anthropic', of.model, anthropic.keep(of, [use]), mended))
  expect(claude.messages[1]).toEqual({ role: 'assistant', content: [{ ...use, name: 'a_b' }] })
  const google = { provider: provider('gemini'), model: 'gemini-3-pro' }
  for (const id of ['c1', undefined]) {
    const functionCall = { name: 'a:b', args: {}, ...(id !== undefined && { id }) }
    const echo = gemini.keep(google, [{ functionCall, thoughtSignature: 'c2ln' }])
    const { contents } = geminiBody(requestOf('gemini', google.model, echo, mended))
    expect(contents[1]?.parts).toEqual([{ functionCall: { ...functionCall, name: 'a_b' }, thoughtSignature: 'c2ln' }])
    expect(contents[2]?.parts).toMatchObject([{ functionResponse: { name: 'a_b' } }])
  }
})

test('another provider, model or adapter gets nothing of it', () => {
  const of = { provider: provider('deepseek'), model: 'm' }
  const echo = stored(chat.keep(of, { reasoning_content: 'Hm.' }))
  expect(chat.of(echo, of)).toEqual({ reasoning_content: 'Hm.' })
  expect(chat.of(echo, { ...of, model: 'other' })).toBeNull()
  expect(chat.of(echo, { ...of, provider: provider('deepseek', 'q') })).toBeNull()
  expect(gemini.of(echo, of)).toBeNull()
})
