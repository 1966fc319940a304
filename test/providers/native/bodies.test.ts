/** Request bodies of Anthropic and Gemini, where a small difference is refused or costs (contract section 13). Pure. */
import { expect, test } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import { anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import { connectionTo, requestTo } from '../scene.ts'
import { look, type Vendor, vendors } from './native-scene.ts'

const requestOf = (vendor: Vendor, changes: Partial<ModelRequest>) =>
  requestTo(null, { provider: connectionTo(null, vendor), model: vendors[vendor].model, ...changes })
const claude = (changes: Partial<ModelRequest>) => anthropicBody(requestOf('anthropic', changes))
const gemini = (changes: Partial<ModelRequest>) => geminiBody(requestOf('gemini', changes))

test.each([
  ['claude-3-7-sonnet-latest', 64_000],
  ['claude-opus-4-5-20251101', 64_000],
  ['claude-opus-4-6', 128_000],
  ['claude-haiku-4-5', 64_000],
  ['claude-sonnet-5', 128_000],
  ['claude-sonnet-10-2', 128_000],
])('%s may answer with %i tokens', (model, most) => {
  expect(claude({ model }).max_tokens).toBe(most)
})

test('a blank prompt is none: vendors refuse blank text', () => {
  for (const system of [null, '', ' \n']) {
    expect(claude({ system })).not.toHaveProperty('system')
    expect(gemini({ system })).not.toHaveProperty('systemInstruction')
  }
  expect(gemini({ system: 'S' }).systemInstruction).toEqual({ role: 'user', parts: [{ text: 'S' }] })
  // Without a prompt the mark of the cache stands on the last tool alone.
  const marked = claude({ system: ' ', tools: [look, { ...look, name: 'see' }] }).tools
  expect(marked?.map((tool) => 'cache_control' in tool)).toEqual([false, true])
})

/** A turn of two calls, and their results. */
const called = (results: readonly [string, string]): ModelMessage[] => [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: '', toolCalls: ['a', 'b'].map((id) => ({ id, name: 'look', arguments: '{}' })) },
  { role: 'tool', toolCallId: 'a', content: results[0] },
  { role: 'tool', toolCallId: 'b', content: results[1] },
]

test('Anthropic: a blank result has no content', () => {
  const { messages } = claude({ messages: called([' ', 'seen']), tools: [look] })
  expect(messages.at(-1)?.content).toEqual([
    { type: 'tool_result', tool_use_id: 'a' },
    { type: 'tool_result', tool_use_id: 'b', content: 'seen', cache_control: { type: 'ephemeral' } },
  ])
})
