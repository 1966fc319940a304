/** Contract section 23, audit: who changed what. */
import { afterAll, beforeAll, expect } from 'vitest'
import { tags } from '../../../../openapi/contract.ts'
import type { Operation } from '../../../../openapi/operation.ts'
import { type Answer, call, nobody } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, type FrontDoor, openFrontDoor } from '../../users/access/front-door-scene.ts'
import { changingWays, provider, server, tool, webhook } from './changing-ways.ts'

let door: FrontDoor
let cookie = ''
const logIn = (password = 'secret-word') =>
  call(`${door.here.url}/api/auth/login`, 'POST', { username: 'anna', password })
beforeAll(async () => {
  door = await openFrontDoor({ instances: 1, settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
  const login = await logIn()
  cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
})
afterAll(() => door.close())

const manage = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(`${door.here.url}${path}`, method, body, { cookie })
const entries = async (query = '') => (await manage('GET', `/api/v1/audit?limit=100${query}`)).json.entries
const newest = async () => (await entries())[0]
const made = async (path: string, body: object): Promise<string> => (await manage('POST', path, body)).json.id
const newProvider = () => made('/api/v1/settings/providers', { ...provider, name: crypto.randomUUID() })

/** Tests change nothing, and sessions are no records; decisions and connections have tests of their own. */
const changesNoRecord = new Set([
  'deleteMcpConnection',
  'revokePlaygroundDecision',
  'revokeKnownUserDecision',
  'testProvider',
  'testHttpTool',
  'testMcpServer',
  'testWebhook',
  'redeliver',
  'cancelReplay',
  'judgeReplayCase',
])

verifies('contract-23.audit', 'every operation of management that changes a record leaves its entry', async () => {
  const changing = tags
    .filter(({ name }) => !name.startsWith('playground'))
    .flatMap(({ operations }) => Object.entries<Operation>(operations))
    .filter(([id, { scope, method }]) => scope === 'management' && method !== 'get' && !changesNoRecord.has(id))
    .map(([id]) => id)
  const ways = changingWays({ door, logIn, manage, made, newProvider })
  expect(changing.filter((id) => ways[id] === undefined)).toEqual([])
  for (const [id, way] of Object.entries(ways)) {
    const answer = await way()
    expect([id, answer.status < 300]).toEqual([id, true])
    const requestId = answer.headers.get('x-request-id')
    const entry = await newest()
    expect([id, entry.actor, entry.actorKind, entry.ip]).toEqual([id, 'anna', 'login', '127.0.0.1'])
    if (requestId !== null) expect([id, entry.requestId]).toEqual([id, requestId])
  }
  expect(JSON.stringify(await entries())).not.toMatch(/sk-a|sk-another/)
})

verifies(
  'contract-23.audit',
  'an entry has each field as it was and as it is, without secrets, and long texts cut',
  async () => {
    const id = await made('/api/v1/prompts', { name: 'Kind', content: 'x'.repeat(3000) })
    const created = await newest()
    expect(created).toMatchObject({ action: 'create', kind: 'prompt', recordId: id, recordName: 'Kind' })
    expect(created.changes.content.from).toBeNull()
    expect(created.changes.content.to).toHaveLength(2001)
    await manage('PUT', `/api/v1/prompts/${id}`, { content: 'Be kind.' })
    expect((await newest()).changes.content.to).toBe('Be kind.')
    await manage('PUT', `/api/v1/prompts/${id}`, { name: 'Kinder' })
    expect((await newest()).changes).toEqual({ name: { from: 'Kind', to: 'Kinder' } })
    await manage('DELETE', `/api/v1/prompts/${id}`)
    expect(await newest()).toMatchObject({ action: 'delete', changes: { name: { from: 'Kinder', to: null } } })
    const own = await newProvider()
    await manage('PUT', `/api/v1/settings/providers/${own}`, { apiKey: 'sk-another-0123456789' })
    expect((await newest()).changes.apiKey).toEqual({ from: '***', to: '***' })
    const toolId = await made('/api/v1/http-tools', { ...tool, headers: { 'X-Api-Key': 'first' } })
    await manage('PUT', `/api/v1/http-tools/${toolId}`, { headers: { 'X-Api-Key': 'second' } })
    expect((await newest()).changes).toEqual({ headers: { from: { 'X-Api-Key': '***' }, to: { 'X-Api-Key': '***' } } })
  },
)

verifies('contract-23.audit', 'a deletion leaves one for each record that it changes besides', async () => {
  const [toolId, serverId] = [await made('/api/v1/http-tools', tool), await made('/api/v1/mcp-servers', server)]
  const agentId = await door.newAgent()
  const { name } = (await manage('GET', `/api/v1/agents/${agentId}`)).json
  const servers = [{ mcpServerId: serverId, toolNames: ['*'] }]
  await manage('PUT', `/api/v1/agents/${agentId}/tools`, { httpToolIds: [toolId], mcpServers: servers })
  const changed = { action: 'update', kind: 'agentTools', recordId: agentId, recordName: name }

  await manage('DELETE', `/api/v1/http-tools/${toolId}`)
  expect((await entries()).slice(0, 2)).toMatchObject([
    { action: 'delete', kind: 'httpTool' },
    { ...changed, changes: { httpToolIds: { from: [toolId], to: [] } } },
  ])
  await manage('DELETE', `/api/v1/mcp-servers/${serverId}`)
  expect((await entries()).slice(0, 2)).toMatchObject([
    { action: 'delete', kind: 'mcpServer' },
    { ...changed, changes: { mcpServers: { from: servers, to: [] } } },
  ])

  const agentIds = [agentId]
  const keyId = await made('/api/v1/keys', { name: 'k', scopes: ['deploy'], agentIds })
  const webhookId = await made('/api/v1/webhooks', { ...webhook(), agentIds })
  await manage('DELETE', `/api/v1/agents/${agentId}`)
  const gone = { action: 'update', changes: { agentIds: { from: agentIds, to: [] } } }
  expect((await entries()).slice(0, 3)).toMatchObject([
    { action: 'delete', kind: 'agent' },
    { ...gone, kind: 'webhook', recordId: webhookId },
    { ...gone, kind: 'key', recordId: keyId },
  ])
})

verifies('contract-23.audit', 'a PUT that changes nothing leaves none', async () => {
  const path = `/api/v1/prompts/${await made('/api/v1/prompts', { name: 'Same', content: 'x' })}`
  const tools = `/api/v1/agents/${door.agentId}/tools`
  await manage('PUT', tools, { builtInToolIds: [] })
  const before = (await newest()).id
  expect((await manage('PUT', path, (await manage('GET', path)).json)).status).toBe(200)
  expect((await manage('PUT', tools, { builtInToolIds: [] })).status).toBe(200)
  expect((await newest()).id).toBe(before)
})

verifies('contract-23.audit', 'a refused change leaves none', async () => {
  const before = (await newest()).id
  expect((await manage('POST', '/api/v1/prompts', { name: '' })).status).toBe(400)
  expect(
    (await manage('POST', '/api/v1/settings/providers', { ...provider, name: 'P', providerType: 'x' })).status,
  ).toBe(400)
  expect((await manage('PUT', `/api/v1/prompts/${nobody}`, { name: 'x' })).status).toBe(404)
  expect((await manage('DELETE', `/api/v1/keys/${nobody}`)).status).toBe(404)
  expect((await manage('PUT', `/api/v1/agents/${door.agentId}`, { providerId: nobody })).status).toBe(400)
  expect((await newest()).id).toBe(before)
})

verifies('contract-23.audit', 'a change of what is deleted meanwhile is 404 and leaves none', async () => {
  const [key, hook] = [
    await made('/api/v1/keys', { name: 'k', scopes: ['deploy'] }),
    await made('/api/v1/webhooks', webhook()),
  ]
  const other = await made('/api/v1/webhooks', webhook())
  const agent = await made('/api/v1/agents', { name: 'a', model: 'm', providerId: await newProvider() })
  const changes: [table: string, id: string, method: string, path: string, body?: object][] = [
    ['keys', key, 'PUT', `/api/v1/keys/${key}`, { name: 'l' }],
    ['webhooks', hook, 'PUT', `/api/v1/webhooks/${hook}`, { enabled: false }],
    ['webhooks', other, 'POST', `/api/v1/webhooks/${other}/secret`],
    ['agents', agent, 'PUT', `/api/v1/agents/${agent}/tools`, { builtInToolIds: ['web_fetch'] }],
  ]
  const { sql } = door.here
  for (const [table, id, method, path, body] of changes) {
    const { answer } = await sql.begin(async (tx) => {
      await tx`delete from ${tx(table)} where id = ${id}`
      const answer = manage(method, path, body)
      await expect
        .poll(async () => {
          const rows = await sql`
            select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          return rows.length
        })
        .toBe(1)
      return { answer }
    })
    expect([path, (await answer).status]).toEqual([path, 404])
    const actions = (await entries(`&q=${id}`)).map(({ action }: { action: string }) => action)
    expect([path, actions]).toEqual([path, ['create']])
  }
})

verifies('contract-23.audit', 'an import leaves one and one for each record', async () => {
  const file = {
    version: 1,
    prompts: [{ name: 'one', content: 'a' }],
    httpTools: [{ ...tool, name: 'imported', headers: { 'X-Api-Key': 'hush' } }],
  }
  expect((await manage('POST', '/api/v1/import', file)).json).toMatchObject({ created: 2 })
  const [second, first, whole] = await entries()
  expect([whole.action, whole.kind, first.kind, second.kind]).toEqual(['import', 'configuration', 'prompt', 'httpTool'])
  expect(second.changes.headers.to).toEqual({ 'X-Api-Key': '***' })
  const renewed = { version: 1, httpTools: [{ ...tool, name: 'imported', headers: { 'X-Api-Key': 'another' } }] }
  expect((await manage('POST', '/api/v1/import', renewed)).json).toMatchObject({ updated: 1 })
  expect((await newest()).changes).toEqual({ headers: { from: { 'X-Api-Key': '***' }, to: { 'X-Api-Key': '***' } } })
})

verifies('contract-23.audit', 'keys, failed logins, and what the deploy API does with users', async () => {
  const { key } = (await manage('POST', '/api/v1/keys', { name: 'CI', scopes: ['management', 'deploy'] })).json
  await call(`${door.here.url}/api/v1/prompts`, 'POST', { name: 'n', content: 'c' }, bearer(key))
  expect(await newest()).toMatchObject({ actor: 'CI', actorKind: 'key', kind: 'prompt' })
  expect((await logIn('wrong')).status).toBe(401)
  expect(await newest()).toMatchObject({ action: 'login_failed', actor: 'anna' })
  const users = `${door.deploy()}/users/ann`
  await door.asKey('POST', `${users}/revoke`)
  expect(await newest()).toMatchObject({
    action: 'revoke',
    kind: 'user',
    recordName: 'ann',
    actor: null,
    actorKind: 'deploy_key',
  })
  await door.as(key, 'GET', `${users}/export`)
  expect(await newest()).toMatchObject({ action: 'export', kind: 'user', actor: 'CI', actorKind: 'key' })
  await door.asKey('DELETE', users)
  expect(await newest()).toMatchObject({ action: 'delete', kind: 'user', recordName: 'ann' })
})

verifies('contract-23.audit', 'is filtered, paged, newest first, and a login’s alone', async () => {
  const all = (await manage('GET', '/api/v1/audit?limit=2&offset=1')).json
  expect(all).toMatchObject({ limit: 2, offset: 1, total: expect.any(Number) })
  expect(all.entries[0].at >= all.entries[1].at).toBe(true)
  expect((await entries('&kind=user')).every(({ kind }: { kind: string }) => kind === 'user')).toBe(true)
  expect((await entries('&actor=CI')).length).toBeGreaterThan(0)
  expect((await entries('&q=kinder')).length).toBe(2)
  expect(await entries('&from=2099-01-01')).toEqual([])
  for (const from of ['soon', '2026-02-30', '2026-02-30T00:00:00Z'])
    expect([from, (await manage('GET', `/api/v1/audit?from=${from}`)).status]).toEqual([from, 400])
  const { key } = (await manage('POST', '/api/v1/keys', { name: 'CI', scopes: ['management'] })).json
  expect((await call(`${door.here.url}/api/v1/audit`, 'GET', undefined, bearer(key))).status).toBe(403)
})

verifies('contract-23.audit', 'a page of more than 32 MiB is 413, and read in smaller ones', async () => {
  await door.here.sql`
    insert into audit_entries (actor_kind, action, kind, changes)
    select 'system', 'update', 'long', jsonb_build_object('a', jsonb_build_object('from', null, 'to', repeat('x', 4 << 20)))
      from generate_series(1, 9)`
  expect(await manage('GET', '/api/v1/audit?kind=long')).toMatchObject({
    status: 413,
    json: { message: expect.stringMatching(/^limit: /) },
  })
  expect((await manage('GET', '/api/v1/audit?kind=long&limit=1')).json).toMatchObject({ total: 9, entries: [{}] })
})
