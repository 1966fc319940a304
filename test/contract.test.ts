import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Fastify from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { compile } from '../openapi/compile.ts'
import { tags } from '../openapi/contract.ts'
import { registerDocs } from '../src/http/docs.ts'
import { HttpError } from '../src/http/http-error.ts'
import { compileInput } from '../src/http/input.ts'
import { verifies } from './verifies.ts'

const file = (name: string) => readFile(new URL(`../openapi/${name}`, import.meta.url), 'utf8')

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

const agent = '/api/v1/agents/{agent_id}'
const session = `${agent}/deploy/sessions/{session_id}`
const play = `${agent}/playground/sessions`

/** Specification section 4, then what the contract adds. Method, path, usual status. */
const endpoints: [string, string, number][] = [
  ['get', '/livez', 200],
  ['get', '/readyz', 200],
  ['get', '/api/auth/status', 200],
  ['post', '/api/auth/login', 200],
  ['post', '/api/auth/logout', 204],
  ['get', '/api/auth/me', 200],
  ['get', '/api/v1/provider-types', 200],
  ['get', '/api/v1/settings/providers', 200],
  ['post', '/api/v1/settings/providers', 201],
  ['get', '/api/v1/settings/providers/{id}', 200],
  ['put', '/api/v1/settings/providers/{id}', 200],
  ['delete', '/api/v1/settings/providers/{id}', 204],
  ['post', '/api/v1/settings/providers/{id}/test', 200],
  ...['prompts', 'agents', 'http-tools', 'mcp-servers'].flatMap((kind): [string, string, number][] => [
    ['get', `/api/v1/${kind}`, 200],
    ['post', `/api/v1/${kind}`, 201],
    ['get', `/api/v1/${kind}/{id}`, 200],
    ['put', `/api/v1/${kind}/{id}`, 200],
    ['delete', `/api/v1/${kind}/{id}`, 204],
  ]),
  ['get', '/api/v1/built-in-tools', 200],
  ['get', '/api/v1/mcp-servers/{id}/tools', 200],
  ['get', `${agent}/tools`, 200],
  ['put', `${agent}/tools`, 200],
  ['post', `${agent}/deploy/chat/completions`, 200],
  ['post', `${agent}/deploy/sessions`, 201],
  ['get', `${agent}/deploy/sessions`, 200],
  ['get', session, 200],
  ['patch', session, 200],
  ['get', `${session}/messages`, 200],
  ['delete', session, 204],
  ['post', `${session}/chat/completions`, 200],
  ['get', `${session}/chat/completions/stream`, 200],
  ['post', `${session}/chat/completions/cancel`, 204],
  ['get', play, 200],
  ['post', play, 201],
  ['get', `${play}/{session_id}`, 200],
  ['delete', `${play}/{session_id}`, 204],
  ['get', `${play}/{session_id}/messages`, 200],
  ['post', `${agent}/playground/chat`, 200],
  // contract sections 2, 5 and 8
  ['post', '/api/v1/http-tools/{id}/test', 200],
  ['get', `${play}/{session_id}/stream`, 200],
  ['post', `${play}/{session_id}/cancel`, 204],
  ['get', '/api/v1/debug/chart', 200],
  ['get', '/api/v1/debug/chart/traffic', 200],
  ['get', '/api/v1/debug/sessions/{id}/transitions', 200],
  ['get', '/api/v1/debug/sessions/{id}/transitions/stream', 200],
  ['get', '/api/v1/debug/actors', 200],
  ['get', '/api/v1/usage', 200],
  ['get', '/api/v1/sessions', 200],
  ['get', '/api/v1/export', 200],
  ['post', '/api/v1/import', 200],
]

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
    expect(schemas.ChatMessage?.properties.role).toMatchObject({ enum: ['user', 'assistant'] })
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

  test('deploy errors are {error}, all others {message} (specification 7)', () => {
    for (const [path, item] of Object.entries(document.paths)) {
      if (path === '/readyz') continue
      for (const { responses } of Object.values(item)) {
        for (const [status, answer] of Object.entries(responses)) {
          if (Number(status) < 400) continue
          const said = path.includes('/deploy/') ? (status === '401' ? 'DeployAuthError' : 'DeployError') : 'Message'
          expect(answer.content?.['application/json'], `${path} ${status}`).toEqual({
            schema: { $ref: `#/components/schemas/${said}` },
          })
        }
      }
    }
  })
})

describe('requests', () => {
  const all = Object.fromEntries(tags.flatMap(({ operations }) => Object.entries(operations)))
  const refusal = (id: string, body: unknown): string | null => {
    const operation = all[id]
    if (!operation) throw new Error(`no operation ${id}`)
    try {
      compileInput(operation)({ params: {}, query: {}, body } as unknown as Parameters<
        ReturnType<typeof compileInput>
      >[0])
      return null
    } catch (error) {
      return error instanceof HttpError ? error.message : String(error)
    }
  }
  const user = { role: 'user', content: 'hi' }
  const tool = { name: 'n', description: '', method: 'GET', url: 'http://x' }

  test('every schema compiles, strictly', () => {
    for (const operation of Object.values(all)) compileInput(operation)
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
    ['createChatCompletion', { messages: [{ role: 'user' }] }, 'messages.0.content: is required'],
    [
      'createChatCompletion',
      { messages: [{ role: 'user', content: null }] },
      'messages.0.content: must be a string or an array',
    ],
    ['createChatCompletion', { messages: [user], stream: 'true' }, 'stream: must be true or false or null'],
    ['createSessionCompletion', { messages: [user], on_busy: 'wait' }, 'on_busy: must be one of "reject", "interrupt"'],
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

describe('the contract as pages (contract section 8)', () => {
  const build = async (loggedIn: boolean) => {
    const app = Fastify()
    await app.register(async (scope) => {
      scope.setErrorHandler((error: HttpError, _request, reply) =>
        reply.code(error.status).send({ message: error.message }),
      )
      scope.addHook('onRequest', async () => {
        if (!loggedIn) throw new HttpError(401, 'Log in first.')
      })
      await registerDocs(scope)
    })
    return app
  }

  test('/openapi.json is the compiled contract', async () => {
    const answer = await (await build(true)).inject('/openapi.json')
    expect(answer.headers['content-type']).toContain('application/json')
    expect(answer.json()).toEqual(document)
  })

  test('/docs reads it, with nothing from elsewhere', async () => {
    const app = await build(true)
    const page = await app.inject('/docs')
    expect(page.statusCode).toBe(200)
    expect(page.body).not.toMatch(/(?:src|href)="https?:/)
    for (const [, path] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await app.inject(new URL(path ?? '', 'http://x/docs').pathname)).statusCode, path).toBe(200)
    }
    expect((await app.inject('/docs/json')).json().paths).toEqual(document.paths)
  })

  test('where a login is required, /docs leads to it and back; the data is 401', async () => {
    const app = await build(false)
    const page = await app.inject('/docs')
    expect([page.statusCode, page.headers.location]).toEqual([303, '/?next=/docs'])
    for (const path of ['/openapi.json', '/docs/json', '/docs/yaml']) {
      const answer = await app.inject(path)
      expect([answer.statusCode, answer.json()]).toEqual([401, { message: 'Log in first.' }])
    }
  })
})
