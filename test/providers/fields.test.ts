/** Contract section 13: fields that change the answer, as each vendor gets them, and who takes which. */
import { expect, test } from 'vitest'
import type { AnswerFields, ResponseFormat } from '../../src/actors/ports/index.ts'
import { fieldRefusal, takenFields } from '../../src/providers/answer-fields.ts'
import { providerTypes } from '../../src/providers/provider-types.ts'
import { verifies } from '../verifies.ts'
import { look, open } from './native/native-scene.ts'
import { ask, connectionTo, failureIn, requestTo, sayOk, scene, spoken } from './scene.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const format = (strict = true): ResponseFormat => ({
  type: 'json_schema',
  json_schema: { name: 'place', schema, strict },
})
const all: AnswerFields = {
  maxTokens: { name: 'max_completion_tokens', value: 7 },
  stop: ['END', '\n'],
  seed: 3,
  responseFormat: format(),
  reasoningEffort: 'high',
  parallelToolCalls: false,
}

verifies(
  ['contract-13.fields', 'contract-13.structured'],
  'chat-completions servers get them under their names',
  async () => {
    const { up, model } = await scene()
    up.always(sayOk)
    const sent = async (type: string, fields: AnswerFields, tools = [look]) => {
      await ask(model, requestTo(up, { provider: connectionTo(up.url, type), fields, tools }))
      const {
        model: _,
        stream: __,
        messages: ___,
        stream_options: ____,
        tools: _____,
        ...rest
      } = up.calls.at(-1)?.body ?? {}
      return rest
    }
    const common = {
      stop: ['END', '\n'],
      seed: 3,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
      reasoning_effort: 'high',
      parallel_tool_calls: false,
    }
    expect(await sent('openai-compatible', all)).toEqual({ ...common, max_completion_tokens: 7 })
    expect(await sent('openai-compatible', { maxTokens: { name: 'max_tokens', value: 5 } })).toEqual({ max_tokens: 5 })
    for (const type of ['openai', 'groq', 'xai']) {
      expect(await sent(type, { maxTokens: { name: 'max_tokens', value: 5 } })).toEqual({ max_completion_tokens: 5 })
    }
    const { seed, ...seedless } = common
    expect(await sent('mistral', all)).toEqual({ ...seedless, max_tokens: 7, random_seed: seed })
    // Vendors refuse it where no tools are offered.
    expect(await sent('openai-compatible', { parallelToolCalls: false }, [])).toEqual({})
    expect(await sent('openai-compatible', { responseFormat: { type: 'text' } })).toEqual({})
    expect(await sent('deepseek', { responseFormat: { type: 'json_object' } })).toEqual({
      response_format: { type: 'json_object' },
    })
  },
)

verifies(['contract-13.fields', 'contract-13.structured'], 'Anthropic gets them in its own words', async () => {
  const { up, model, request } = await open('anthropic')
  up.always(sayOk)
  const { seed: _, ...fields } = all
  await ask(model, request({ fields, tools: [look] }))
  expect(up.calls[0]?.body).toMatchObject({
    max_tokens: 7,
    stop_sequences: ['END', '\n'],
    output_config: { format: { type: 'json_schema', schema }, effort: 'high' },
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  })
  await ask(model, request({ fields: { parallelToolCalls: false } }))
  expect(up.calls[1]?.body).not.toHaveProperty('tool_choice')
  expect(up.calls[1]?.body.max_tokens).toBe(128_000)
})

verifies(['contract-13.fields', 'contract-13.structured'], 'Gemini gets them in its own words', async () => {
  const { up, model, request } = await open('gemini')
  up.always(sayOk)
  const { parallelToolCalls: _, ...fields } = all
  await ask(model, request({ fields }))
  expect(up.calls[0]?.body.generationConfig).toEqual({
    maxOutputTokens: 7,
    stopSequences: ['END', '\n'],
    seed: 3,
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
    thinkingConfig: { thinkingLevel: 'HIGH' },
  })
  await ask(model, request({ model: 'gemini-2.5-flash', fields: { reasoningEffort: 'none' } }))
  expect(up.calls[1]?.body.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 0 } })
  await ask(model, request({ fields: { responseFormat: { type: 'json_object' } } }))
  expect(up.calls[2]?.body.generationConfig).toEqual({ responseMimeType: 'application/json' })
})

const refusal = (type: string, fields: AnswerFields, model = 'm') => fieldRefusal({ provider: { type }, model }, fields)

test.each<[string, AnswerFields, string, string]>([
  ['anthropic', { seed: 1 }, 'claude-opus-5-5', 'seed: '],
  ['anthropic', { responseFormat: { type: 'json_object' } }, 'claude-opus-5-5', 'response_format: '],
  ['anthropic', { responseFormat: format() }, 'claude-3-5-sonnet-20241022', 'response_format: '],
  ['anthropic', { responseFormat: format() }, 'claude-sonnet-4-20250514', 'response_format: '],
  ['anthropic', { reasoningEffort: 'none' }, 'claude-opus-5-5', 'reasoning_effort: '],
  ['anthropic', { reasoningEffort: 'low' }, 'claude-haiku-4-5', 'reasoning_effort: '],
  ['gemini', { parallelToolCalls: true }, 'gemini-3-flash', 'parallel_tool_calls: '],
  ['gemini', { reasoningEffort: 'none' }, 'gemini-3-flash', 'reasoning_effort: '],
  ['gemini', { reasoningEffort: 'low' }, 'gemini-2.0-flash', 'reasoning_effort: '],
  ['deepseek', { responseFormat: format() }, 'm', 'response_format: '],
  ['mistral', { reasoningEffort: 'low' }, 'm', 'reasoning_effort: '],
  ['ollama', { parallelToolCalls: false }, 'm', 'parallel_tool_calls: '],
  ['demo', { seed: 1 }, 'm', 'seed: '],
])('%s refuses %j of %s, naming field and provider', (type, fields, model, field) => {
  const said = refusal(type, fields, model)
  expect(said?.startsWith(field)).toBe(true)
  expect(said).toContain(type)
})

verifies('contract-13.fields', 'each type of provider has a row; what it takes it is not refused', () => {
  const rows = [...providerTypes.map(({ id }) => id), 'responses']
  expect(Object.keys(takenFields).toSorted()).toEqual(rows.toSorted())
  expect(refusal('openai-compatible', all)).toBeNull()
  expect(refusal('openai', all)).toBeNull()
  expect(refusal('anthropic', { responseFormat: format() }, 'claude-sonnet-4-5-20250929')).toBeNull()
  // Every model gives text.
  for (const { id } of providerTypes) expect(refusal(id, { responseFormat: { type: 'text' } })).toBeNull()
})

verifies('contract-13.fields', 'a provider that refuses a value says so itself', async () => {
  const { up, model } = await scene()
  up.always((call) => call.error(400, { error: { message: 'max_tokens is too large' } }))
  const events = await ask(model, requestTo(up, { fields: { maxTokens: { name: 'max_tokens', value: 1e9 } } }))
  expect(failureIn(events).message).toContain('max_tokens is too large')
  expect(spoken(events)).toHaveLength(1)
})
