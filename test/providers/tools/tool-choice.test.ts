/** Which tools a model may or must call, as each vendor is told (contract section 15). */
import { expect, test } from 'vitest'
import type { ModelRequest, ToolChoice } from '../../../src/actors/ports/index.ts'
import { anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import { chatBody } from '../../../src/providers/openai/chat.ts'
import { dialectOf } from '../../../src/providers/provider-types.ts'

const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }]
const requestOf = (type: string, model: string, toolChoice?: ToolChoice): ModelRequest => ({
  provider: { id: 'p', type, baseUrl: null, apiKey: 'k' },
  model,
  system: null,
  config: {},
  reasoning: true,
  messages: [{ role: 'user', content: 'Look!' }],
  tools,
  ...(toolChoice !== undefined && { toolChoice }),
})

const chat = (choice?: ToolChoice) => {
  const dialect = dialectOf('openai')
  if (dialect === null) throw new Error('there is no dialect')
  return chatBody(requestOf('openai', 'm', choice), dialect).tool_choice
}
const claude = (choice?: ToolChoice) => anthropicBody(requestOf('anthropic', 'claude-sonnet-4-5', choice))
const gemini = (choice?: ToolChoice) => geminiBody(requestOf('gemini', 'gemini-2.5-pro', choice)).toolConfig

test.each([
  ['auto', 'auto', { type: 'auto' }, undefined],
  ['none', 'none', { type: 'none' }, { functionCallingConfig: { mode: 'NONE' } }],
  ['required', 'required', { type: 'any' }, { functionCallingConfig: { mode: 'ANY' } }],
  [
    { name: 'look' },
    { type: 'function', function: { name: 'look' } },
    { type: 'tool', name: 'look' },
    { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  ],
  [undefined, undefined, undefined, undefined],
] as const)('%o', (choice, openai, anthropic, google) => {
  expect(chat(choice)).toEqual(openai)
  expect(claude(choice).tool_choice).toEqual(anthropic)
  expect(gemini(choice)).toEqual(google)
})

test('Claude is not asked to think before a call that it must make: the vendor refuses both', () => {
  expect(claude().thinking).toBeDefined()
  expect(claude('required').thinking).toBeUndefined()
  expect(claude({ name: 'look' }).thinking).toBeUndefined()
})
