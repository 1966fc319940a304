/** Specification 9.2: what the server answers is what openapi.json says, at every endpoint that is mounted. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { nobody, openScene } from '../http/scene.ts'
import { uiScene } from '../http/ui-scene.ts'
import { verifies } from '../verifies.ts'
import { document, walk as walkAs, walked } from './openapi-walk.ts'
import { walkChildren } from './walk-children.ts'
import { walkDecisions } from './walk-decisions.ts'
import { walkFiles } from './walk-files.ts'
import { walkKeys } from './walk-keys.ts'
import { walkQueue } from './walk-queue.ts'
import { walkResponses } from './walk-responses.ts'
import { walkServer, walkShares } from './walk-shares.ts'
import { walkSummaries } from './walk-summaries.ts'
import { walkFeedback, walkReplays, walkVersions } from './walk-versions.ts'
import { walkWebhooks } from './walk-webhooks.ts'

/** Needs a server beside us; walked only to its 404. */
const outside = new Set([
  'get /api/v1/mcp-servers/{id}/tools',
  // Connections come of a sign-in; test/features/connections makes and deletes some.
  'delete /api/v1/mcp-servers/{id}/connections/{connection_id}',
  'delete /api/v1/agents/{agent_id}/deploy/users/{user}/connections/{mcp_server_id}',
])
const scene = await openScene()
const guarded = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word', PUBLIC_API_KEY: 'k' } })
afterAll(() => Promise.all([scene.close(), guarded.close()]))

const walk = (
  method: string,
  template: string,
  ids: Record<string, string>,
  body?: unknown,
  by = scene,
  headers: Record<string, string> = {},
) => walkAs(by, method, template, ids, body, headers)

const agentPath = '/api/v1/agents/{agent_id}'
const deploy = `${agentPath}/deploy`
const one = `${deploy}/sessions/{session_id}`
const play = `${agentPath}/playground`
const message = (content: string, extra: object = {}) => ({ messages: [{ role: 'user', content }], ...extra })

/** A path that turns to another branch. */
async function walkHeads(agent_id: string): Promise<void> {
  const { id: session_id } = await walk('post', `${deploy}/sessions`, { agent_id }, message('x'))
  const ids = { agent_id, session_id }
  const id = (await walk('get', `${one}/messages`, ids)).messages[0].id
  await walk('post', `${one}/head`, ids, { message_id: id })
  await walk('post', `${play}/sessions/{session_id}/head`, ids, { messageId: id })
  for (const base of [one, `${play}/sessions/{session_id}`]) {
    await walk('get', `${base}/children`, ids)
    await walk('get', `${base}/children`, { ...ids, session_id: nobody })
  }
}

async function walkParts(agent_id: string): Promise<void> {
  const { id: session_id } = await walk('post', `${deploy}/sessions`, { agent_id })
  const ids = { agent_id, session_id }
  const file = { file_data: `data:text/plain;base64,${btoa('words')}`, filename: 'a.txt' }
  await walk('post', `${one}/chat/completions`, ids, {
    messages: [{ role: 'user', content: [{ type: 'file', file }] }],
  })
  const [asked, answered] = (await walk('get', `${one}/messages`, ids)).messages
  const [, n] = asked.parts[0].url.split('/parts/')
  for (const base of [one, `${play}/sessions/{session_id}`]) {
    await walk('get', `${base}/messages/{message_id}/parts/{n}`, { ...ids, message_id: asked.id, n })
    await walk('get', `${base}/messages/{message_id}/parts/{n}`, { ...ids, n })
  }
  await walk('get', `${play}/sessions/{session_id}/messages/{message_id}/frames`, { ...ids, message_id: answered.id })
  await walk('get', `${play}/sessions/{session_id}/messages/{message_id}/frames`, ids)
}

async function walkManagement(agent_id: string): Promise<void> {
  for (const path of [
    '/livez',
    '/readyz',
    '/api/auth/status',
    '/api/auth/me',
    '/api/v1/provider-types',
    '/api/v1/built-in-tools',
  ]) {
    await walk('get', path, {})
  }
  await walk('post', '/api/auth/logout', {})
  await walk('post', '/api/auth/login', {}, { username: 'anna', password: 'wrong' }, guarded)
  await walk('post', '/api/auth/login', {}, { username: 'anna', password: 'secret-word' }, guarded)
  const provider = {
    name: 'W',
    providerType: 'openai-compatible',
    baseUrl: scene.up.url,
    apiKey: 'sk-0123456789abcdef',
  }
  const records: [string, object, object][] = [
    ['/api/v1/settings/providers', provider, { name: 'W2' }],
    ['/api/v1/prompts', { name: 'p', content: 'c' }, { content: 'd' }],
    ['/api/v1/agents', { name: 'a', providerId: scene.providerId, model: 'm' }, { generationConfig: { topK: 1 } }],
    [
      '/api/v1/http-tools',
      { name: 't', description: 'd', method: 'GET', url: 'https://example.com/', headers: { 'x-key': 'v' } },
      { description: 'e' },
    ],
    ['/api/v1/mcp-servers', { name: 's', transport: 'sse', url: 'https://example.com/sse' }, { name: 's2' }],
  ]
  for (const [path, create, change] of records) {
    const { id } = await walk('post', path, {}, create)
    await walk('post', path, {}, { name: 5 })
    await walk('get', path, {})
    await walk('get', `${path}/{id}`, { id })
    await walk('put', `${path}/{id}`, { id }, change)
    await walk('put', `${path}/{id}`, {}, change)
    await walk('get', `${path}/{id}`, {})
    if (path.endsWith('/providers')) await walk('post', `${path}/{id}/test`, { id })
    if (path.endsWith('/http-tools')) await walk('post', `${path}/{id}/test`, {}, { arguments: {} })
    if (path.endsWith('/mcp-servers')) await walkServer(walk, path, id)
    await walk('delete', `${path}/{id}`, { id })
    await walk('delete', `${path}/{id}`, { id })
  }
  await walk('get', '/api/v1/usage', {})
  await walk('get', '/api/v1/usage/figures', {})
  await walk('get', '/api/v1/audit', {})
  await walkKeys(walk, agent_id)
  const prices = await walk('get', '/api/v1/settings/prices', {})
  await walk('put', '/api/v1/settings/prices', {}, prices)
  await walk('put', '/api/v1/settings/prices', {}, {})
  const copy = await walk('get', '/api/v1/export', {})
  await walk('post', '/api/v1/import', {}, copy)
  await walk('post', '/api/v1/import', {}, { ...copy, prompts: [{ name: 'From a copy', content: 'c' }] })
  await walk('post', '/api/v1/import', {}, { version: 2 })
  await walk('get', `${agentPath}/tools`, { agent_id })
  await walk('put', `${agentPath}/tools`, { agent_id }, { httpToolIds: [], builtInToolIds: [] })
  await walk('put', `${agentPath}/tools`, { agent_id }, { httpToolIds: [nobody] })
}

async function walkDeploy(agent_id: string): Promise<string> {
  await walk('post', `${deploy}/chat/completions`, { agent_id }, message('x'))
  await walk('post', `${deploy}/chat/completions`, { agent_id }, message('x', { stream: true }))
  await walk('post', `${deploy}/chat/completions`, { agent_id }, { messages: [] })
  await walk('post', `${deploy}/chat/completions`, {}, message('x'))
  await walk('get', `${deploy}/sessions`, {})
  const { id: session_id } = await walk('post', `${deploy}/sessions`, { agent_id }, {})
  const ids = { agent_id, session_id }
  await walk('get', `${one}/chat/completions/stream`, ids)
  await walk('post', `${one}/chat/completions`, ids, message('x'))
  await walk('post', `${one}/chat/completions`, ids, message('x', { stream: true }))
  scene.up.always((call) => call.error(400))
  await walk('post', `${one}/chat/completions`, ids, message('fails'))
  await walk('post', `${deploy}/chat/completions`, { agent_id }, message('fails'))
  const [, running] = await Promise.all([scene.byHand(), scene.stream(session_id, 'x')])
  await walk('get', `${one}/messages`, ids)
  await walk('post', `${one}/chat/completions`, ids, message('busy'))
  await walkQueue(scene, walk, ids)
  await running.rest()
  scene.says(['ok'])
  await walk('get', `${one}/chat/completions/stream`, ids)
  await walk('get', `${one}/chat/completions/stream`, ids, undefined, scene, { 'last-event-id': 'x' })
  await walk('get', `${deploy}/sessions`, { agent_id })
  await walk('get', one, ids)
  await walk('get', one, { agent_id })
  await walk('patch', one, ids, { title: 'Changed', metadata: { a: 'b' } })
  await walk('patch', one, ids, { title: 5 })
  await walk('post', `${deploy}/sessions`, { agent_id }, { id: session_id })
  await walk('get', `${deploy}/models`, { agent_id })
  await walk('get', `${deploy}/models/{model_id}`, { agent_id, model_id: 'test-model' })
  await walk('get', '/api/v1/openai/models', {})
  await walk('get', '/api/v1/openai/models/{model_id}', { model_id: agent_id })
  for (const model of [agent_id, 'nobody'])
    await walk('post', '/api/v1/openai/chat/completions', {}, message('x', { model }))
  return session_id
}

async function walkUsers(agent_id: string): Promise<void> {
  await walk('post', `${deploy}/client_secrets`, { agent_id }, { user: 'W' })
  await walk('post', `${deploy}/client_secrets`, { agent_id }, { user: '' })
  await walk('post', `${deploy}/client_secrets`, {}, { user: 'W' })
  await walk('post', `${deploy}/sessions`, { agent_id }, { user: 'W' })
  const one = `${deploy}/users/{user}`
  for (const path of [agent_id, nobody].map((id) => ({ agent_id: id, user: 'W' }))) {
    await walk('get', `${one}/export`, path)
    await walk('post', `${one}/revoke`, path)
    await walk('delete', one, path)
  }
}

async function walkUiClients(agent_id: string): Promise<void> {
  const session_id = randomUUID()
  const ids = { agent_id, session_id }
  const ui = uiScene(scene)
  const aiSdk = `${deploy}/ai-sdk`
  await walk('post', aiSdk, { agent_id }, ui.chatBody(session_id, 'x'))
  await walk('post', aiSdk, { agent_id }, ui.chatBody('no uuid', 'x'))
  await walk('post', aiSdk, {}, ui.chatBody(session_id, 'x'))
  await walk('get', `${aiSdk}/{session_id}/stream`, ids)
  await walk('get', `${aiSdk}/{session_id}/messages`, ids)
  await walk('get', `${aiSdk}/{session_id}/messages`, { session_id })
  await walk('delete', `${aiSdk}/{session_id}/stream`, ids)
  await walk('post', `${deploy}/ag-ui`, { agent_id }, ui.runBody(session_id, 'r', 'x'))
  await walk('post', `${deploy}/ag-ui`, { agent_id }, ui.runBody(session_id, 'r', 'other'))
  await walk('post', `${deploy}/ag-ui`, {}, ui.runBody(session_id, 'r', 'x'))
  for (const params of [{ agent_id }, {}])
    await walk('post', `${deploy}/mcp`, params, { jsonrpc: '2.0', id: 1, method: 'ping' })
  await walk('get', `${deploy}/ag-ui/capabilities`, { agent_id })
  await walk('get', `${deploy}/ag-ui/capabilities`, {})
}

async function walkPlayground(agent_id: string): Promise<void> {
  const { id: session_id } = await walk('post', `${play}/sessions`, { agent_id }, { title: 'W' })
  const ids = { agent_id, session_id }
  await walk('get', `${play}/sessions/{session_id}/stream`, ids)
  await walk('post', `${play}/chat`, { agent_id }, { message: 'x', sessionId: session_id })
  await walk('post', `${play}/chat`, { agent_id }, { message: '' })
  await walk('post', `${play}/chat`, {}, { message: 'x' })
  scene.up.always((call) => call.error(401))
  await walk('post', `${play}/chat`, { agent_id }, { message: 'fails', sessionId: session_id })
  scene.says(['ok'])
  await walkSummaries(walk, ids)
  await walk('get', `${play}/sessions`, { agent_id })
  await walk('get', `${play}/sessions/{session_id}`, ids)
  await walk('get', `${play}/sessions/{session_id}/messages`, ids)
  await walk('get', `${play}/sessions/{session_id}/stream`, ids)
  await walk('post', `${play}/sessions/{session_id}/cancel`, ids)
  await walk('delete', `${play}/sessions/{session_id}`, ids)
  await walk('delete', `${play}/sessions/{session_id}`, ids)
}

verifies(
  [
    'spec-2.11.completion',
    'spec-2.8.session',
    'spec-2.9.message',
    'contract-5.shapes',
    'contract-8.chart',
    'spec-4.1.health',
  ],
  'every mounted endpoint answers as declared',
  async () => {
    scene.says(['ok'], { usage: { prompt_tokens: 1, completion_tokens: 1 } })
    const agent_id = scene.agentId
    await walkManagement(agent_id)
    const session_id = await walkDeploy(agent_id)
    await walkResponses(walk, agent_id)
    await walkWebhooks(walk, agent_id)
    await walkVersions(walk, agent_id)
    await walkFiles(walk, agent_id)
    const parts = [walkUsers, walkUiClients, walkPlayground, walkHeads, walkParts]
    for (const walkPart of parts) await walkPart(agent_id)
    await walkDecisions(walk, scene.up, agent_id)
    for (const path of ['sessions', 'sessions/counts']) await walk('get', `/api/v1/${path}`, {})
    for (const path of ['chart', 'chart/traffic', 'actors']) await walk('get', `/api/v1/debug/${path}`, {})
    for (const id of [session_id, nobody]) await walk('get', '/api/v1/debug/find?id={id}', { id })
    await walk('get', '/api/v1/debug/sessions/{id}/readers', { id: session_id })
    await walk('get', '/api/v1/debug/sessions/{id}/transitions', { id: session_id })
    await walk('get', '/api/v1/debug/sessions/{id}/transitions', {})
    await walk('get', '/api/v1/debug/sessions/{id}/transitions/stream', {})
    const message_id = (await scene.messages(session_id)).findLast(({ role }) => role === 'assistant').id
    await walkReplays(walk, agent_id, message_id)
    await walkShares(walk, { agent_id, session_id })
    await walkChildren(walk, scene.up, agent_id)
    await walkFeedback(walk, { agent_id, session_id, message_id })
    for (const path of ['trace', 'trace/stream', 'requests']) {
      await walk('get', `/api/v1/debug/replies/{message_id}/${path}`, { message_id })
      await walk('get', `/api/v1/debug/replies/{message_id}/${path}`, {})
    }
    for (const _ of ['there', 'gone']) await walk('delete', one, { agent_id, session_id })
    for (const [template, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) {
        const name = `${method} ${template}`
        if (!['get', 'post', 'put', 'delete'].includes(method)) continue
        const statuses = [...walked]
          .filter((entry) => entry.startsWith(`${name} `))
          .map((entry) => Number(entry.split(' ')[2]))
        const streamed = /(transitions|sessions)\/stream$/.test(template) // they do not end by themselves
        expect([
          name,
          statuses.some((status) => status < 300) ||
            streamed ||
            outside.has(name) ||
            /[/](http-tools|mcp-servers)[/]{id}[/]test$/.test(name),
        ]).toEqual([name, true])
      }
    }
  },
)

verifies(
  ['contract-3.auth-first', 'contract-2.errors'],
  'without credentials every endpoint answers 401 as declared',
  async () => {
    for (const [template, methods] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        const name = `${method} ${template}`
        if (responses['401'] === undefined) continue
        await walk(method, template, {}, method === 'get' || method === 'delete' ? undefined : {}, guarded)
        const wanted = template === '/api/auth/login' ? 400 : 401
        expect([name, walked.has(`${name} ${wanted}`)]).toEqual([name, true])
      }
    }
  },
)
