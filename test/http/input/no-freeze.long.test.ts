/**
 * Contract section 18: no single request makes `/livez` wait longer than 250 ms on a quiet machine. The server runs in
 * this process, the attacker in a thread. What counts is the processor time of the server's longest turn
 * (support/longest-turn.ts): `/livez` is answered between two turns, and the machine of a test run is not quiet. For the
 * same reason the limit grows with the time that a piece of known work takes in the same run.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { leastOfSeveral, watchTurns } from '../../support/measures/longest-turn.ts'
import { seededRandom } from '../../support/random.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'
import { userMessage } from '../ui-scene.ts'
import {
  hostileBodies,
  hostileConversations,
  hostileImports,
  hostileValues,
  hostileYaml,
  MOST_BYTES,
} from './hostile-input.ts'
import type { HostileAnswer, HostileRequest } from './hostile-worker.ts'
import { documentedEndpoints } from './surfaces.ts'

const LONGEST_MS = 250
const worker = new Worker(new URL('./hostile-worker.ts', import.meta.url), { execArgv: [], env: {} })
const [{ port }] = await once(worker, 'message')
const app = await startTestApp()
const { agentId, providerId } = await createAgent(app, {
  type: 'openai-compatible',
  baseUrl: `http://127.0.0.1:${port}`,
})
const turns = watchTurns()
afterAll(async () => {
  turns[Symbol.dispose]()
  await worker.terminate()
  await app[Symbol.asyncDispose]()
})

const make = async (path: string, body: object): Promise<string> =>
  (await call(`${app.url}${path}`, 'POST', body)).json.id
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const httpTool = {
  name: 't',
  description: 'd',
  method: 'GET',
  url: 'http://127.0.0.1:1/{{a}}',
  headers: {},
  body: null,
  inputSchema: schema,
}
const mcpServer = { name: 's', transport: 'streamable_http', url: 'http://127.0.0.1:1/', headers: {} }
const ids = {
  agent: agentId,
  provider: providerId,
  prompt: await make('/api/v1/prompts', { name: 'p', content: 'c' }),
  tool: await make('/api/v1/http-tools', httpTool),
  server: await make('/api/v1/mcp-servers', mcpServer),
  session: await make(`/api/v1/agents/${agentId}/deploy/sessions`, {}),
}

function idFor(path: string, name: string): string {
  if (name === 'session_id' || path.includes('/debug/')) return ids.session
  if (path.includes('/http-tools/')) return ids.tool
  if (path.includes('/mcp-servers/')) return ids.server
  if (path.includes('/prompts/')) return ids.prompt
  return path.includes('/providers/') ? ids.provider : ids.agent
}

/** Bodies that are right, by the end of the path: one field at a time is then filled with something hostile. */
const messages = [{ role: 'user', content: 'x' }]
const tools = { httpToolIds: [], mcpServers: [], builtInToolIds: [] }
const honest: readonly [RegExp, Record<string, unknown>][] = [
  [/\/auth\/login$/, { username: 'u', password: 'p' }],
  [
    /\/providers(\/\{id\})?$/,
    { name: 'n', providerType: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/', apiKey: 'k' },
  ],
  [/\/prompts(\/\{id\})?$/, { name: 'n', content: 'c' }],
  [/\/agents\/\{agent_id\}\/tools$/, tools],
  [/\/agents(\/\{id\})?$/, { name: 'n', providerId: ids.provider, model: 'm', promptId: null, generationConfig: {} }],
  [/\/http-tools(\/\{id\})?$/, httpTool],
  [/\/http-tools\/\{id\}\/test$/, { arguments: { a: 'x' } }],
  [/\/mcp-servers(\/\{id\})?$/, mcpServer],
  [/\/mcp-servers\/\{id\}\/test$/, { tool: 'echo', arguments: { a: 'x' } }],
  [/\/chat\/completions$/, { messages, metadata: {} }],
  [/\/playground\/chat$/, { message: 'x', configOverrides: {}, ...tools }],
  [/\/ai-sdk$/, { id: randomUUID(), messages: [userMessage('x')], trigger: 'submit-message' }],
  [/\/ag-ui$/, { threadId: randomUUID(), runId: 'r', messages: [{ id: 'm', role: 'user', content: 'x' }] }],
  [/\/deploy\/mcp$/, { jsonrpc: '2.0', id: 1, method: 'ping', params: {} }],
  [/\/client_secrets$/, { user: 'u' }],
  [/\/responses(\/input_tokens)?$/, { input: 'x', metadata: {} }],
  [/\/responses\/compact$/, { input: 'x' }],
  [/\/conversations\/\{conversation_id\}\/items$/, { items: [{ type: 'message', role: 'user', content: 'x' }] }],
  [/\/publish$/, { note: 'n' }],
  [/\/replays$/, { version: 1, replies: {} }],
  [/\/replays\/\{replay_id\}\/cases\/\{message_id\}$/, { verdict: 'same' }],
  [/\/feedback$/, { score: 1 }],
  [/\/shares$/, {}],
  [/\/conversations(\/\{conversation_id\})?$/, { metadata: {} }],
  [/\/keys(\/\{id\})?$/, { name: 'n', scopes: ['deploy'] }],
  [/\/deploy\/sessions\/\{session_id\}\/head$/, { message_id: randomUUID() }],
  [/\/playground\/sessions\/\{session_id\}\/head$/, { messageId: randomUUID() }],
  [/\/cancel$/, { queue: 'clear' }],
  [/\/webhooks(\/\{id\})?$/, { name: 'n', url: 'http://127.0.0.1:1/', events: ['reply.completed'], agentIds: [] }],
  [/\/actions$/, { decisions: [{ id: randomUUID(), decision: 'approve' }] }],
  [/\/settings\/prices$/, { currency: 'EUR', prices: [{ model: 'm', input: 1, output: 1 }] }],
  [/\/sessions(\/\{session_id\})?$/, { title: 't' }],
  [/\/import$/, { version: 1, prompts: [], agents: [], httpTools: [], mcpServers: [], agentTools: [] }],
]

const endpoints = documentedEndpoints(idFor)

interface Target extends Pick<HostileRequest, 'url' | 'method' | 'bytes'> {
  what: string
  around: Record<string, unknown>
}

/** Operations with a limit of their own: what is beyond it is never looked at. */
const smaller: readonly [RegExp, number][] = [
  [/^\/api\/auth/, 16 * 1024],
  [/\/import$/, 2 ** 20],
  [/\/(http-tools|mcp-servers)\/\{id\}\/test$/, 256 * 1024],
]

const targets: Target[] = endpoints
  .filter(({ takesBody, template }) => takesBody && !template.endsWith('/files')) // uploads are forms
  .map(({ method, path, template }) => {
    const what = `${method} ${template}`
    const around = honest.find(([pattern]) => pattern.test(template))?.[1]
    if (around === undefined) throw new Error(`${what}: add a body that is right to this test`)
    const [, bytes] = smaller.find(([pattern]) => pattern.test(template)) ?? [null, MOST_BYTES]
    return { what, url: `${app.url}${path}`, method, bytes, around }
  })

type Group = keyof typeof hostileValues

/** What a field that holds this may be filled with. */
function groupsFor(field: string, value: unknown): Group[] {
  if (Array.isArray(value)) return ['list']
  if (value !== null && typeof value === 'object') return ['object']
  return /url$/i.test(field) ? ['text', 'address'] : ['text']
}

/** A run takes about a twentieth of the pairs of value and field, other ones each time: all of them take two minutes. */
const SHARE = samples(1 / 20, 1)
const random = seededRandom('no-freeze')

/** By value, then by endpoint. */
function* fields(): Generator<HostileRequest & { what: string }> {
  for (const group of Object.keys(hostileValues) as Group[]) {
    for (const name of Object.keys(hostileValues[group])) {
      for (const { what, ...target } of targets) {
        const fit = Object.entries(target.around).filter(([field, value]) => groupsFor(field, value).includes(group))
        for (const field of group === 'any' ? ['x'] : fit.map(([field]) => field)) {
          if (random() > SHARE) continue
          yield { ...target, kind: 'value', name, field, what: `${what}: ${name} as ${field}` }
        }
      }
    }
  }
}

/** All of them to one endpoint of each way to read a body, some to a share of the others too. */
function* wholes(): Generator<HostileRequest & { what: string }> {
  const ways = /login|deploy\/chat|POST \/api\/v1\/prompts|import/
  for (const [index, name] of Object.keys(hostileBodies).entries()) {
    for (const { what, ...target } of targets) {
      if (ways.test(what) || (index < 2 && random() <= SHARE))
        yield { ...target, kind: 'body', name, what: `${what}: ${name}` }
    }
  }
}

/** Whole conversations, to the agent. */
function* conversations(reply: string): Generator<HostileRequest & { what: string }> {
  const deploy = `${app.url}/api/v1/agents/${ids.agent}/deploy`
  for (const [name, { to }] of Object.entries(hostileConversations)) {
    const url = `${deploy}/${to === 'completions' ? 'chat/completions' : to}`
    yield { kind: 'conversation', url, method: 'POST', name, reply, bytes: MOST_BYTES, what: `${to}: ${name}` }
  }
}

/** A run takes about half of them: all take 15 s of processor time, most of it beside the event loop. */
function* imports(): Generator<HostileRequest & { what: string }> {
  const target = { url: `${app.url}/api/v1/import`, method: 'POST', bytes: 2 ** 20 }
  const share = samples(1 / 2, 1)
  for (const name of Object.keys(hostileYaml)) {
    if (random() <= share) yield { ...target, kind: 'yaml', name, what: `YAML: ${name}` }
  }
  for (const name of Object.keys(hostileImports)) {
    if (random() <= share) yield { ...target, kind: 'import', name, what: `import: ${name}` }
  }
}

/** Node lets 16 KiB of request line and headers through. */
function* heads(): Generator<HostileRequest & { what: string }> {
  const long = 7 * 1024
  const paths = [
    '/%2e'.repeat(long / 4),
    '/..'.repeat(long / 3),
    '/%'.repeat(long / 2),
    `/${'a'.repeat(long)}`,
    '/'.repeat(long),
  ]
  const queries = [
    `q=${'%25'.repeat(long / 3)}`,
    `limit=${'9'.repeat(long)}`,
    'a&'.repeat(long / 2),
    `${'q=1&'.repeat(long / 4)}`,
  ]
  const headers: Record<string, string>[] = [
    { cookie: 'a=b;'.repeat(long / 4) },
    { cookie: `greenroom_session=${'%41'.repeat(long / 3)}` },
    { authorization: `Bearer ${' '.repeat(long)}x` },
    { 'last-event-id': '9'.repeat(long) },
    { accept: 'text/html;q=0,'.repeat(long / 14) },
    { origin: `http://${'a.'.repeat(long / 2)}` },
    { 'x-forwarded-for': '::1,'.repeat(long / 4), 'x-forwarded-host': 'a,'.repeat(100) },
    { 'content-type': `application/json;${'a=b;'.repeat(long / 4)}` },
    { 'idempotency-key': 'x'.repeat(long), 'x-request-id': 'x'.repeat(200), traceparent: '0-'.repeat(100) },
  ]
  const base = { bytes: 0, kind: 'none', name: '' } as const
  for (const [index, { method, path, template }] of endpoints.entries()) {
    for (const [turn, query] of queries.entries()) {
      const one = headers[(index + turn) % headers.length]
      const what = `${method} ${template}?${query.slice(0, 9)} ${JSON.stringify(one).slice(0, 30)}`
      // Each half of what fits.
      yield { ...base, method, url: `${app.url}${path}?${query}`, ...(one && { headers: one }), what }
    }
  }
  for (const begin of ['', '/api', '/api/v1', `/api/v1/agents/${ids.agent}/deploy`, '/docs', '/assets']) {
    for (const tail of paths) {
      yield { ...base, method: 'GET', url: `${app.url}${begin}${tail}`, what: `GET ${begin}${tail.slice(0, 8)}` }
    }
  }
}

async function attack(request: HostileRequest): Promise<HostileAnswer> {
  const answer = once(worker, 'message')
  worker.postMessage(request)
  return (await answer)[0]
}

async function expectNoFreeze(requests: Iterable<HostileRequest & { what: string }>, atLeast = 11): Promise<void> {
  const slow: string[] = []
  let sent = 0
  for (const { what, ...request } of requests) {
    let status = 0
    const longest = await leastOfSeveral(LONGEST_MS, async () => {
      turns.reset()
      status = (await attack(request)).status
      return turns.longestMs()
    })
    sent += 1
    if (longest > LONGEST_MS) slow.push(`${Math.round(longest)} ms: ${what} (${status})`)
  }
  expect(sent).toBeGreaterThanOrEqual(atLeast)
  expect(slow).toEqual([])
}

const minutes = { timeout: 300_000 }
verifies('contract-18.livez', 'no field of a body holds the event loop', () => expectNoFreeze(fields()), minutes)
verifies('contract-18.livez', 'no body holds the event loop', () => expectNoFreeze(wholes()), minutes)
verifies(
  ['contract-18.livez', 'contract-26.cost-of-bytes'],
  'no conversation holds the event loop',
  async () => {
    const reply = await make(`/api/v1/agents/${ids.agent}/deploy/responses`, { input: 'x' })
    await expectNoFreeze(conversations(reply), Object.keys(hostileConversations).length)
  },
  minutes,
)
verifies('contract-18.livez', 'no import holds the event loop', () => expectNoFreeze(imports(), 1), minutes)
verifies('contract-18.livez', 'no path, query or header holds the event loop', () => expectNoFreeze(heads()), minutes)
