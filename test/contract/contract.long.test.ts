import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { compile } from '../../openapi/compile.ts'
import { tags } from '../../openapi/contract.ts'
import { HttpError } from '../../src/http/server/http-error.ts'
import { checkInput, validator } from '../../src/http/server/input.ts'
import { verifies } from '../verifies.ts'
import { agent, endpoints, session } from './endpoints.ts'

const file = (name: string) => readFile(new URL(`../../openapi/${name}`, import.meta.url), 'utf8')

interface Described {
  operationId: string
  security: object[]
  responses: Record<string, { content?: Record<string, { schema?: object }> }>
}
let document: {
  openapi: string
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, { properties: Record<string, object> }> }
}
beforeAll(async () => {
  document = JSON.parse(await file('openapi.json'))
})

describe('what is compiled (specification 9.2, contract section 8)', () => {
  verifies('spec-9.versioning', 'is what the declarations say', async () => {
    for (const [name, content] of await compile()) expect(await file(name), `openapi/${name}`).toBe(content)
  })

  verifies('spec-9.versioning', 'has every endpoint of specification and contract, and no other', () => {
    const declared = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    )
    expect(declared.sort()).toEqual(endpoints.map(([method, path]) => `${method} ${path}`).sort())
  })

  test.each(endpoints)('%s %s answers %i', (method, path, status) => {
    expect(document.paths[path]?.[method]?.responses).toHaveProperty(String(status))
  })

  test('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0')
    const config = await createConfig({
      extends: ['minimal'],
      rules: { struct: 'error', 'no-unresolved-refs': 'error' },
    })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(
      problems
        .filter(({ severity }) => severity === 'error')
        .map(({ message, location }) => [message, location[0]?.pointer]),
    ).toEqual([])
  })

  test('operation ids are unique', () => {
    const ids = tags.flatMap(({ operations }) => Object.keys(operations))
    expect(ids.length).toBe(new Set(ids).size)
  })

  test('streams are event streams, and only deploy completions can be plain JSON too (specification 6)', () => {
    const kinds = (method: string, path: string) =>
      Object.keys(document.paths[path]?.[method]?.responses[200]?.content ?? {})
    expect(kinds('post', `${agent}/deploy/chat/completions`)).toEqual(['application/json', 'text/event-stream'])
    expect(kinds('post', `${session}/chat/completions`)).toEqual(['application/json', 'text/event-stream'])
    expect(kinds('get', `${session}/chat/completions/stream`)).toEqual(['text/event-stream'])
    expect(kinds('post', `${agent}/playground/chat`)).toEqual(['text/event-stream'])
  })

  test('clients are told roles, addresses and what a stream holds', () => {
    const { schemas } = document.components
    expect(schemas.ChatMessage?.properties.role).toMatchObject({ enum: ['user', 'assistant', 'tool'] })
    for (const name of ['HttpToolCreate', 'HttpToolUpdate', 'McpServerCreate', 'McpServerUpdate']) {
      expect(schemas[name]?.properties.url).toMatchObject({ pattern: expect.stringContaining('://') })
    }
    expect(schemas.ProviderCreate?.properties.baseUrl).toMatchObject({ pattern: expect.stringContaining('://') })
    const events = (method: string, path: string) =>
      document.paths[path]?.[method]?.responses[200]?.content?.['text/event-stream']?.schema
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const ofReplies = { anyOf: [ref('ChatCompletionChunk'), ref('StreamError')] }
    expect(events('post', `${agent}/deploy/chat/completions`)).toEqual(ofReplies)
    expect(events('get', `${session}/chat/completions/stream`)).toEqual(ofReplies)
    expect(events('post', `${agent}/playground/chat`)).toEqual(ofReplies)
    expect(events('get', '/api/v1/debug/sessions/{id}/transitions/stream')).toEqual(ref('SessionTransition'))
    expect(JSON.stringify(document)).not.toContain('x-documented')
  })
})

describe('requests', () => {
  const all = Object.fromEntries(tags.flatMap(({ operations }) => Object.entries(operations)))
  const refusal = (id: string, body: unknown): string | null => {
    const operation = all[id]
    if (!operation) throw new Error(`no operation ${id}`)
    try {
      checkInput(operation)({ params: {}, query: {}, body } as unknown as Parameters<ReturnType<typeof checkInput>>[0])
      return null
    } catch (error) {
      return error instanceof HttpError ? error.message : String(error)
    }
  }
  const user = { role: 'user', content: 'hi' }
  const tool = { name: 'n', description: '', method: 'GET', url: 'http://x' }

  test('every schema compiles, strictly', () => {
    for (const { query, body } of Object.values(all)) {
      for (const schema of [query, body]) if (schema) validator(schema)()
    }
  })

  test.each<[string, unknown]>([
    [
      'createChatCompletion',
      { messages: [user], model: 'any', temperature: 'hot', tools: 1, stream: null, stream_options: null },
    ],
    [
      'createChatCompletion',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }], name: 1 }], on_busy: 'what' },
    ],
    ['createChatCompletion', { messages: [{ role: 'system', content: '' }] }], // the handler says it in its own words
    ['createSessionCompletion', { messages: [user], on_busy: 'interrupt', stream: true }],
    ['createAgent', { name: 'n', providerId: 'x', model: 'm' }],
    ['createAgent', { name: 'n', providerId: 'x', model: 'm', promptId: null, generationConfig: null }],
    [
      'createAgent',
      {
        name: 'n',
        providerId: 'x',
        model: 'm',
        generationConfig: { temperature: 2, topP: 0, topK: 1, maxToolCalls: 0 },
      },
    ],
    ['updateAgent', { promptId: null, generationConfig: { topK: null } }],
    ['updateAgent', {}],
    ['createProvider', { name: 'n', providerType: 'demo', apiKey: null, baseUrl: null }],
    ['updateProvider', { hasApiKey: true, apiKeyHint: null, baseUrl: null }],
    ['createHttpTool', { ...tool, headers: null, body: null, inputSchema: null }],
    ['updateHttpTool', { headers: { a: '***' }, inputSchema: { type: 'object' } }],
    ['testHttpTool', { arguments: { a: [1] } }],
    ['testMcpServer', { tool: 'echo', arguments: { a: [1] } }],
    ['updateAgentTools', {}],
    [
      'updateAgentTools',
      { httpToolIds: [], mcpServers: [{ mcpServerId: 'x', toolNames: ['*'] }], builtInToolIds: null },
    ],
    ['createPlaygroundChat', { message: 'hi', sessionId: null, configOverrides: { model: null, topK: 3 } }],
    ['importConfiguration', { version: 1 }],
  ])('%s takes %j', (id, body) => expect(refusal(id, body)).toBeNull())

  test.each<[string, unknown, string]>([
    ['createChatCompletion', {}, 'messages: is required'],
    ['createChatCompletion', { messages: [] }, 'messages: must have at least 1 element'],
    ['createChatCompletion', { messages: 'hi' }, 'messages: must be an array'],
    [
      'createChatCompletion',
      { messages: [{ role: 'user', content: 1 }] },
      'messages.0.content: must be a string or an array or null',
    ],
    ['createChatCompletion', { messages: [user], stream: 'true' }, 'stream: must be true or false or null'],
    [
      'createSessionCompletion',
      { messages: [user], on_busy: 'wait' },
      'on_busy: must be one of "reject", "interrupt", "enqueue", "steer"',
    ],
    ['createAgent', { name: 'n', providerId: 'x', model: '' }, 'model: must have at least 1 character'],
    [
      'createAgent',
      { name: 'n', providerId: 'x', model: 'm', generationConfig: { temperature: 2.1 } },
      'generationConfig.temperature: must be at most 2',
    ],
    ['updateAgent', { generationConfig: { topK: 0 } }, 'generationConfig.topK: must be at least 1'],
    ['updateAgent', { generationConfig: { topK: 1.5 } }, 'generationConfig.topK: must be a whole number or null'],
    ['updateAgent', { generationConfig: { maxToolCalls: 101 } }, 'generationConfig.maxToolCalls: must be at most 100'],
    ['updateAgent', { name: null }, 'name: must be a string'],
    ['createHttpTool', { ...tool, headers: { a: 1 } }, 'headers.a: must be a string'],
    ['createHttpTool', { ...tool, method: 'get' }, 'method: must be one of "GET", "POST", "PUT", "DELETE", "PATCH"'],
    [
      'createMcpServer',
      { name: 'n', transport: 'stdio', url: 'x' },
      'transport: must be one of "sse", "streamable_http"',
    ],
    ['updateAgentTools', { mcpServers: [{ mcpServerId: 'x' }] }, 'mcpServers.0.toolNames: is required'],
  ])('%s refuses %j', (id, body, message) => expect(refusal(id, body)).toBe(message))
})
