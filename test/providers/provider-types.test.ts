/** Provider types: contract section 2. */
import { expect, test } from 'vitest'
import { dialectOf, endpointOf, providerTypes } from '../../src/providers/provider-types.ts'

const ids = providerTypes.map(({ id }) => id)

test('all eleven are listed, each with the fields of the contract', () => {
  expect(ids.toSorted()).toEqual(
    // biome-ignore format: one list
    ['anthropic', 'deepseek', 'demo', 'gemini', 'groq', 'mistral', 'ollama', 'openai', 'openai-compatible', 'openrouter', 'xai'],
  )
  const fields = ['defaultBaseUrl', 'description', 'id', 'name', 'requiresApiKey', 'requiresBaseUrl']
  for (const type of providerTypes) expect(Object.keys(type).toSorted()).toEqual(fields)
})

test('a base URL is required where there is no default, for openai-compatible alone', () => {
  expect(providerTypes.filter((type) => type.requiresBaseUrl).map(({ id }) => id)).toEqual(['openai-compatible'])
})

test('no key is required for the demo, Ollama and compatible servers', () => {
  const open = providerTypes.filter((type) => !type.requiresApiKey).map(({ id }) => id)
  expect(open.toSorted()).toEqual(['demo', 'ollama', 'openai-compatible'])
})

test('all but three speak the chat-completions format', () => {
  expect(ids.filter((id) => !dialectOf(id)).toSorted()).toEqual(['anthropic', 'demo', 'gemini'])
  expect(dialectOf('toString')).toBe(null)
})

test.each([
  ['openai', null, 'https://api.openai.com/v1'],
  ['openai', 'https://eu.example.com/v1/', 'https://eu.example.com/v1'],
  ['ollama', 'http://box:11434', 'http://box:11434/v1'],
  ['ollama', 'http://box:11434/', 'http://box:11434/v1'],
  ['ollama', 'http://box:11434/api/v1', 'http://box:11434/api/v1'],
  ['openai-compatible', 'http://box:8000', 'http://box:8000'],
  ['openai-compatible', null, null],
  ['openai-compatible', 'not a url', null],
])('%s at %s is called at %s', (type, baseUrl, endpoint) => {
  expect(endpointOf({ type, baseUrl })).toBe(endpoint)
})
