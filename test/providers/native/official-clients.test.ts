/**
 * The vendors' official clients beside our adapters, both against the servers of these tests: the same requests on the
 * wire, and the same turns read. A server that an official client does not understand would prove nothing.
 */
import Anthropic from '@anthropic-ai/sdk'
import {
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
} from '@google/genai'
import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { ask, key, textOf } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'
import { look, open } from './native-scene.ts'

const history: Partial<ModelRequest> = {
  system: 'Be brief.',
  tools: [look],
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: '{"q":"x"}' }] },
    { role: 'tool', toolCallId: 'c1', content: 'found' },
    { role: 'user', content: 'and now?' },
  ],
}
const fields: ModelRequest['fields'] = {
  maxTokens: { name: 'max_tokens', value: 99 },
  stop: ['END'],
  responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
}
const onTheWire = ({ method, path, body }: UpstreamCall) => ({ method, path, body })

describe('anthropic', () => {
  // By itself it sends the key as a bearer token. Both ways are documented; gateways read the older one.
  const defaultHeaders = { 'x-api-key': key, authorization: null }
  const clientOf = (baseURL: string) =>
    new Anthropic({ baseURL, apiKey: key, defaultHeaders, maxRetries: 0, logLevel: 'off' })

  test.each<[string, Partial<ModelRequest>]>([
    ['words alone', {}],
    ['a history with tools', history],
    ['reasoning', { ...history, reasoning: true }],
    ['a tool that must be called', { ...history, toolChoice: { name: 'look' } }],
    ['fields', { fields }],
  ])('sends %s as the official client does', async (_, changes) => {
    const { up, model, request } = await open('anthropic')
    up.always(anthropic.tells({ text: ['ok'] }))
    expect(textOf(await ask(model, request(changes)))).toBe('ok')
    const params: Anthropic.MessageCreateParamsStreaming = anthropicBody(request(changes))
    for await (const _event of await clientOf(up.base).messages.create(params));
    const [ours, theirs] = [await up.call(1), await up.call(2)]
    expect(onTheWire(ours)).toEqual(onTheWire(theirs))
    expect(ours.headers['content-type']).toBe(theirs.headers['content-type'])
  })

  test('the official client reads a turn of the server as the adapter does', async () => {
    const { up, model, request } = await open('anthropic')
    const calls = [{ id: 'toolu_1', name: 'look', input: { q: 'Zürich' } }]
    up.always(anthropic.tells({ thinking: 'Hm.', text: ['Let me ', 'look.'], calls }))
    const ours = await ask(model, request({ tools: [look] }))
    const theirs = await clientOf(up.base)
      .messages.stream(anthropicBody(request({ tools: [look] })))
      .finalMessage()
    expect(theirs.content.map((block) => (block.type === 'text' ? block.text : ''))).toContain(textOf(ours))
    expect(theirs.content).toContainEqual(expect.objectContaining({ type: 'tool_use', ...calls[0] }))
    expect(ours).toContainEqual({
      type: 'tool_call',
      call: { id: 'toolu_1', name: 'look', arguments: JSON.stringify(calls[0]?.input) },
    })
    expect(ours.at(-1)).toMatchObject({
      type: 'end',
      reason: 'tool_calls',
      usage: { promptTokens: theirs.usage.input_tokens, completionTokens: theirs.usage.output_tokens },
    })
    expect(theirs.stop_reason).toBe('tool_use')
  })

  test('lists models where the official client does', async () => {
    const { up, model, request } = await open('anthropic')
    await model.testProvider(request().provider)
    const page = await clientOf(up.base).models.list({ limit: 1000 })
    expect(page.data.map(({ id }) => id)).toEqual(['claude-opus-5-5'])
    expect(up.requests[0]).toBe(up.requests[1])
  })
})

describe('gemini', () => {
  const clientOf = (baseUrl: string) =>
    new GoogleGenAI({ vertexai: false, apiKey: key, apiVersion: 'v1beta', httpOptions: { baseUrl } })
  const declared = [
    { functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: look.inputSchema }] },
  ]

  test.each<[string, Partial<ModelRequest>, GenerateContentParameters['config']]>([
    ['words alone', {}, {}],
    ['sampling', { config: { temperature: 0.5, topP: 0.9, topK: 5 } }, { temperature: 0.5, topP: 0.9, topK: 5 }],
    ['a history with tools', history, { systemInstruction: 'Be brief.', tools: declared }],
    [
      'a tool that must be called',
      { ...history, toolChoice: { name: 'look' } },
      {
        systemInstruction: 'Be brief.',
        tools: declared,
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['look'] },
        },
      },
    ],
    [
      'fields and reasoning',
      { fields: { ...fields, seed: 7, reasoningEffort: 'low' }, reasoning: true },
      {
        maxOutputTokens: 99,
        stopSequences: ['END'],
        seed: 7,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object' },
        thinkingConfig: { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true },
      },
    ],
  ])('sends %s as the official client does', async (_, changes, config) => {
    const { up, model, request } = await open('gemini')
    up.always(gemini.tells({ text: ['ok'] }))
    expect(textOf(await ask(model, request(changes)))).toBe('ok')
    const { contents }: { contents: { role: string; parts: Part[] }[] } = geminiBody(request(changes))
    const params = { model: request().model, contents, ...(config && { config }) }
    for await (const _chunk of await clientOf(up.base).models.generateContentStream(params));
    const [ours, theirs] = [await up.call(1), await up.call(2)]
    expect(onTheWire(ours)).toEqual(onTheWire(theirs))
    for (const name of ['x-goog-api-key', 'content-type']) expect(ours.headers[name]).toBe(theirs.headers[name])
  })

  test.each([
    'gemini-3-flash',
    'models/gemini-3-flash',
    'tunedModels/mine-1',
  ])('calls %s where the official client does', async (name) => {
    const { up, model, request } = await open('gemini')
    up.always(async (call) => {
      await call.raw(gemini.turn({ text: ['ok'] }))
      call.end()
    })
    await ask(model, request({ model: name }))
    for await (const _chunk of await clientOf(up.base).models.generateContentStream({ model: name, contents: 'hi' }));
    expect((await up.call(1)).path).toBe((await up.call(2)).path)
  })

  test('a model whose name leads to another address is not called', async () => {
    const { up, model, request } = await open('gemini')
    for (const name of ['../files', 'a?b', 'a&b', 'a#b']) {
      expect((await ask(model, request({ model: name }))).at(-1)).toMatchObject({ failure: { code: 'provider_error' } })
    }
    expect(up.requests).toEqual([])
  })

  test('the official client reads a turn of the server as the adapter does', async () => {
    const { up, model, request } = await open('gemini')
    up.always(gemini.tells({ text: ['Let me ', 'look.'], calls: [{ id: 'g1', name: 'look', args: { q: 'Zürich' } }] }))
    const ours = await ask(model, request({ tools: [look] }))
    const { contents }: { contents: { role: string; parts: Part[] }[] } = geminiBody(request())
    const theirs = { text: '', calls: 0, tokens: 0 }
    for await (const chunk of await clientOf(up.base).models.generateContentStream({
      model: request().model,
      contents,
    })) {
      theirs.text += chunk.candidates?.[0]?.content?.parts?.map((part) => part.text ?? '').join('') ?? ''
      theirs.calls += chunk.functionCalls?.length ?? 0
      theirs.tokens = chunk.usageMetadata?.candidatesTokenCount ?? theirs.tokens
    }
    expect(theirs).toEqual({ text: textOf(ours), calls: 1, tokens: 7 })
    expect(ours.at(-1)).toMatchObject({ type: 'end', reason: 'tool_calls', usage: { completionTokens: 7 } })
  })

  test('lists models where the official client does', async () => {
    const { up, model, request } = await open('gemini')
    await model.testProvider(request().provider)
    const { page } = await clientOf(up.base).models.list({ config: { pageSize: 1000 } })
    expect(page.map(({ name }) => name)).toEqual(['models/gemini-3-flash', 'models/embedding-1'])
    expect(up.requests[0]).toBe(up.requests[1])
  })
})
