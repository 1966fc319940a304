/** The management scope alone, on a real socket and a real database. */
import { request as httpRequest } from 'node:http'
import Fastify from 'fastify'
import { auth } from '../../../openapi/operations/operators/auth.ts'
import { agents } from '../../../openapi/operations/records/agents.ts'
import { agentTools } from '../../../openapi/operations/records/agentTools.ts'
import { builtInTools } from '../../../openapi/operations/records/builtInTools.ts'
import { httpTools } from '../../../openapi/operations/records/httpTools.ts'
import { mcpServers } from '../../../openapi/operations/records/mcpServers.ts'
import { prompts } from '../../../openapi/operations/records/prompts.ts'
import { providers } from '../../../openapi/operations/records/providers.ts'
import { type Credential, knownCredentials } from '../../../src/features/users/login/credentials.ts'
import { loginHandlers } from '../../../src/features/users/login/login.ts'
import { loginSessions } from '../../../src/features/users/login/login-session.ts'
import { agentToolHandlers } from '../../../src/http/management/records/agent-tools.ts'
import { agentHandlers } from '../../../src/http/management/records/agents.ts'
import { builtInToolHandlers } from '../../../src/http/management/records/built-in-tools.ts'
import { type HttpToolDependencies, httpToolHandlers } from '../../../src/http/management/records/http-tools.ts'
import { type McpServerDependencies, mcpServerHandlers } from '../../../src/http/management/records/mcp-servers.ts'
import { promptHandlers } from '../../../src/http/management/records/prompts.ts'
import { providerHandlers } from '../../../src/http/management/records/providers.ts'
import { managementScope } from '../../../src/http/management/scope.ts'
import { mount } from '../../../src/http/server/mount.ts'
import type { Sql } from '../../../src/persistence/postgres/database.ts'
import { findAgentsByModel } from '../../../src/persistence/records/agent-models.ts'
import { fieldRefusal } from '../../../src/providers/answer-fields.ts'
import { providerTypes } from '../../../src/providers/provider-types.ts'
import { workOutNames } from '../../../src/tools/naming/approvals.ts'

type ProviderDependencies = Parameters<typeof providerHandlers>[0]

export interface Options {
  sql: Sql
  credentials?: Credential[]
  allowedHosts?: string[]
  loopbackOnly?: boolean
  trustProxy?: string
  testProvider?: ProviderDependencies['testProvider']
  onAgentDelete?: (id: string) => Promise<boolean>
  tools?: Partial<Omit<HttpToolDependencies & McpServerDependencies, 'sql' | 'secrets'>>
  log?: (line: string) => void
}

const noTools: Omit<HttpToolDependencies & McpServerDependencies, 'sql' | 'secrets'> = {
  checkSchema: async () => null,
  callHttpTool: async () => ({ ok: true, status: 200, content: '', body: '' }),
  discoverTools: async () => [],
  callMcpTool: async () => ({ ok: true, content: '' }),
  discoveryWarning: async () => null,
  onMcpServerChange() {},
  publicUrl: () => null,
}

const offered = [{ id: 'web_fetch', name: 'Fetch', description: 'Fetches.' }]

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the response
  json: any
}

export interface Server {
  port: number
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

/** Reversible, without the key's own characters in it. */
export const secrets = {
  seal: (text: string, context: string) => Buffer.from(`${context}\n${text}`).toString('base64'),
  open(sealed: string, context: string) {
    const [sealedFor, text] = Buffer.from(sealed, 'base64').toString().split('\n')
    if (sealedFor !== context || text === undefined) throw new Error('sealed for another context')
    return text
  },
}

export async function startServer(options: Options): Promise<Server> {
  const { sql, credentials, trustProxy, log } = options
  const known = credentials ? knownCredentials(credentials) : null
  const sessions = known && loginSessions(sql, known)
  const app = Fastify({
    bodyLimit: 10_000,
    ...(trustProxy !== undefined && { trustProxy }),
    ...(log && { logger: { level: 'error', stream: { write: log } } }),
  })
  await app.register((scope) =>
    managementScope(scope, {
      sessions,
      namedKeys: { find: async () => null, watch: () => ({ signal: new AbortController().signal, stop() {} }) },
      noteReads: async () => {},
      agentIdsOf: (name) => findAgentsByModel(sql, name, null),
      hosts: { allowedHosts: options.allowedHosts ?? [], loopbackOnly: options.loopbackOnly ?? true },
      routes(scoped) {
        mount(scoped, auth, loginHandlers(known && sessions && { sql, credentials: known, sessions, oidc: null }))
        mount(scoped, prompts, promptHandlers({ sql }))
        mount(
          scoped,
          agents,
          agentHandlers({ sql, fieldRefusal, onAgentDelete: options.onAgentDelete ?? (async () => false) }),
        )
        const deps = { sql, secrets, builtInTools: offered, workOutNames, ...noTools, ...options.tools }
        mount(scoped, agentTools, agentToolHandlers(deps))
        mount(scoped, builtInTools, builtInToolHandlers(deps))
        mount(scoped, httpTools, httpToolHandlers(deps))
        mount(scoped, mcpServers, mcpServerHandlers(deps))
        mount(
          scoped,
          providers,
          providerHandlers({
            sql,
            secrets,
            providerTypes,
            testProvider: options.testProvider ?? (async () => ({ ok: true, latencyMs: 1, message: '', models: [] })),
          }),
        )
      },
    }),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  const { port } = address
  return { port, call: (...request) => call(port, ...request), close: () => app.close() }
}

/** With node:http, which allows any `Host`. A string or buffer is sent verbatim. */
function call(port: number, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: { ...type, ...headers },
      agent: false,
    })
    request.on('error', reject)
    request.on('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      const isJson = response.headers['content-type']?.startsWith('application/json')
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : null,
      })
    })
    request.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : body && JSON.stringify(body))
  })
}
