/** The grants of users: renewed, listed, removed, and hidden (contract section 27). */
import { afterAll, beforeEach, expect } from 'vitest'
import { claimGrant, updateGrant } from '../../../src/features/connections/store/connections.ts'
import { asks, callsOfTest, openToolScene } from '../../http/tool-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'

const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const servers = await startSignInServers({ listsOpenly: true })
afterAll(async () => {
  await scene.close()
  await servers[Symbol.asyncDispose]()
})
const model = callsOfTest(scene)
const fields = { name: 'shop', url: servers.url, auth: 'user' }
const mcpServerId = await scene.createMcpServer(fields)
// The first use of MCP takes long on a busy machine.
await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
const { now, seen } = servers
beforeEach(() => {
  Object.assign(now, {
    metadata: {},
    refreshError: null,
    refreshHeld: null,
    neededScope: null,
    expiresIn: 3600,
    resource: null,
    callback: {},
  })
  for (const list of Object.values(seen)) list.splice(0)
})

let users = 0
const session = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json
const deploy = (user: string) => `${scene.agent}/deploy/users/${encodeURIComponent(user)}`
const connections = async (user: string) => (await scene.call('GET', `${deploy(user)}/connections`)).json.connections

async function asked(user = `user ${++users}`) {
  const id = (await scene.call('POST', scene.sessions, { user })).json.id
  scene.up.next(asks('', { name: 'shop__orders', arguments: '{}', id: 'c1' }))
  scene.says(['Done.'])
  await scene.send(id, 'Hello')
  return { id, user, pending: (await session(id)).pending }
}
const settled = (id: string) =>
  expect.poll(async () => (await scene.messages(id)).at(-1)).toMatchObject({ status: 'complete', content: 'Done.' })
/** A user who has signed in. */
async function signedIn() {
  const { id, user, pending } = await asked()
  await createBrowser(scene.app.url).signIn(pending[0].url)
  await settled(id)
  return { id, user }
}
const told = async (nth: number) =>
  (await model.sent(nth)).messages.findLast(({ role }: { role: string }) => role === 'tool')?.content

verifies(
  ['contract-27.no-grant', 'contract-27.goes-on'],
  'a call of a listed tool waits without having been sent, and is made once after the sign-in',
  async () => {
    const { id } = await signedIn()
    expect(seen.calls).toHaveLength(1)
    expect(await told(2)).toBe('Order 7.')
    expect((await scene.shown(id)).at(-1).toolCalls ?? []).toEqual([])
  },
)

verifies('contract-27.no-grant', 'without a user, and without a session, the server is missing', async () => {
  scene.says(['Done.'])
  const id = await scene.newSession()
  const one = await scene.send(id, 'Hello')
  const other = await scene.stateless([{ role: 'user', content: 'Hello' }])
  for (const answer of [one, other]) expect(answer.headers.get('x-greenroom-missing-tools')).toBe('shop=no_user')
})

verifies('contract-27.refresh', 'a token that is over or refused is refreshed, once for all that need it', async () => {
  now.expiresIn = 1
  const { user } = await signedIn()
  now.expiresIn = 3600
  seen.tokens.splice(0)
  const both = await Promise.all([asked(user), asked(user)])
  expect(both.map(({ pending }) => pending)).toEqual([[], []])
  expect(seen.tokens.map((form) => form.get('grant_type'))).toEqual(['refresh_token'])
  servers.expireTokens()
  expect((await asked(user)).pending).toEqual([])
  expect(seen.tokens).toHaveLength(2)
  expect(seen.authorizations).toHaveLength(1)
})

verifies('contract-27.refresh', 'invalid_grant asks anew, another failure is the call’s error', async () => {
  const { user } = await signedIn()
  servers.expireTokens()
  now.refreshError = 'temporarily_unavailable'
  const failed = await asked(user)
  expect(failed.pending).toEqual([])
  expect(await told(4)).toContain('could not be renewed')
  expect(await connections(user)).toHaveLength(1)
  now.refreshError = 'invalid_grant'
  const again = await asked(user)
  expect(again.pending).toMatchObject([{ kind: 'sign_in' }])
  expect(await connections(user)).toEqual([])
  expect(seen.authorizations).toHaveLength(1)
  const { json } = await scene.call('GET', '/api/v1/audit?kind=connection')
  expect(json.entries[0]).toMatchObject({
    ...{ actor: null, actorKind: 'system', action: 'delete', recordName: 'shop' },
    changes: { user: { from: user, to: null } },
  })
})

verifies(
  'contract-27.refresh',
  'while the authorization server is silent, no connection of the database waits',
  async () => {
    const [one, other] = [await signedIn(), await signedIn()]
    servers.expireTokens()
    const held = Promise.withResolvers<void>()
    now.refreshHeld = held.promise
    seen.tokens.splice(0)
    const calls = Promise.all([asked(one.user), asked(other.user), asked(other.user)])
    await expect.poll(() => seen.tokens.length).toBe(2)
    const waiting = async () =>
      (
        await scene.app.sql<{ n: number }[]>`
          select count(*)::integer as n from pg_stat_activity
           where datname = current_database() and state like 'idle in transaction%'`
      )[0]?.n
    await expect.poll(waiting).toBe(0) // others may be in the middle of something
    held.resolve()
    for (const { pending } of await calls) expect(pending).toEqual([])
    expect(seen.tokens).toHaveLength(2)
  },
)

verifies('contract-27.refresh', 'a renewal whose instance is gone is made by another one', async () => {
  const { user } = await signedIn()
  const { sql } = scene.app
  const [{ id = '' } = {}] = await sql<{ id: string }[]>`select id from mcp_connections where end_user = ${user}`
  const issuer = { server: servers.issuer, metadata: null, resource: servers.url, client: { client_id: 'c' } }
  const opened = JSON.stringify({ issuer, token: 't', refreshToken: 'r', scope: null, expiresIn: null })
  const sealing = { seal: (text: string) => text, open: () => opened }
  const claim = () => claimGrant(sql, sealing, id)
  const first = await claim()
  expect([first === null, await claim()], 'one at a time').toEqual([false, null])
  await sql`update mcp_connections set renewal_ends = clock_timestamp() + interval '0.5 seconds' where id = ${id}`
  servers.expireTokens()
  expect((await asked(user)).pending).toEqual([])
  expect(seen.tokens.at(-1)?.get('grant_type')).toBe('refresh_token')
  expect(first && (await updateGrant(sql, sealing, first, first.granted)), 'it comes too late').toBe(false)
})

verifies('contract-27.scopes', 'insufficient_scope waits for a sign-in with the scopes of both', async () => {
  const { user } = await signedIn()
  now.neededScope = 'refunds'
  const { id, pending } = await asked(user)
  expect(pending).toMatchObject([{ kind: 'sign_in', name: 'shop__orders' }])
  await createBrowser(scene.app.url).signIn(pending[0].url)
  await settled(id)
  expect(seen.authorizations.at(-1)?.get('scope')?.split(' ').toSorted()).toEqual(['orders', 'refunds'])
  expect(await connections(user)).toMatchObject([{ scope: expect.stringContaining('refunds') }])
})

verifies('contract-27.goes-on', 'where the user has signed in meanwhile, a click goes on at once', async () => {
  const first = await asked()
  const second = await asked(first.user)
  const browser = createBrowser(scene.app.url)
  await browser.signIn(first.pending[0].url)
  await settled(first.id)
  expect((await session(second.id)).pending).toHaveLength(1)
  expect((await browser.post(second.pending[0].url)).status).toBe(200)
  await settled(second.id)
  expect(seen.authorizations).toHaveLength(1)
})

verifies('contract-27.tokens-hidden', 'tokens stand encrypted in the database, and in no answer', async () => {
  const { id, user } = await signedIn()
  const token = seen.calls[0]?.authorization?.replace('Bearer ', '') ?? ''
  expect(token).toMatch(/^at-/)
  const rows = await scene.app.sql`select c::text as text from mcp_connections c`
  const answers = await Promise.all([
    scene.call('GET', `${deploy(user)}/connections`),
    scene.call('GET', `${deploy(user)}/export`),
    scene.call('GET', `${scene.sessions}/${id}/messages`),
    scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/connections`),
    scene.call('GET', '/api/v1/export'),
  ])
  expect(JSON.stringify([rows, answers.map(({ text }) => text)])).not.toMatch(/[ar]t-[0-9a-f]{8}/)
  expect(answers[1]?.text.trim().split('\n').at(-1)).toBe(JSON.stringify({ connections: await connections(user) }))
})

verifies('contract-27.connections', 'they are listed and removed, with their entries in the audit', async () => {
  const { user } = await signedIn()
  expect(await connections(user)).toEqual([
    { mcp_server_id: mcpServerId, server: 'shop', scope: 'orders', created_at: expect.any(String) },
  ])
  expect(await connections('nobody')).toEqual([])
  const list = `/api/v1/mcp-servers/${mcpServerId}/connections`
  const [one] = (await scene.call('GET', `${list}?user=${encodeURIComponent(user)}`)).json.connections
  expect(one).toMatchObject({ agentId: scene.agentId, user, scope: 'orders' })
  const agentName = (await scene.call('GET', scene.agent)).json.name
  const everywhere = (filter: string) =>
    scene.call('GET', `/api/v1/connections?user=${encodeURIComponent(user)}${filter}`)
  const wide = { ...one, mcpServerId, server: 'shop', agentName, expiresAt: expect.any(String) }
  for (const filter of ['', `&mcpServerId=${mcpServerId}`, `&agentId=${scene.agentId}`])
    expect((await everywhere(filter)).json).toEqual({ connections: [wide], total: 1, limit: 20, offset: 0 })
  for (const filter of [`&mcpServerId=${scene.agentId}`, '&agentId=none', '&offset=1'])
    expect((await everywhere(filter)).json.connections).toEqual([])
  expect((await scene.call('GET', '/api/v1/connections?user=nobody')).json.total).toBe(0)
  expect((await everywhere('&scope=orders')).status).toBe(400)
  expect((await scene.call('DELETE', `${list}/${one.id}`)).status).toBe(204)
  expect((await scene.call('DELETE', `${list}/${one.id}`)).status).toBe(404)
  expect((await scene.call('DELETE', `${deploy(user)}/connections/${mcpServerId}`)).status).toBe(404)
  const { entries } = (await scene.call('GET', '/api/v1/audit?kind=connection')).json
  expect(entries.slice(0, 2)).toMatchObject([
    { action: 'delete', recordId: one.id, recordName: 'shop' },
    { action: 'create', recordId: one.id, actor: user },
  ])
  expect((await asked(user)).pending).toMatchObject([{ kind: 'sign_in' }])
})

verifies('contract-27.connections-go', 'they go with the user and with another url, and stay otherwise', async () => {
  const first = await signedIn()
  const second = await signedIn()
  expect((await scene.call('POST', `${deploy(first.user)}/revoke`)).status).toBe(204)
  expect(await connections(first.user)).toHaveLength(1)
  expect((await scene.call('DELETE', deploy(first.user))).status).toBe(204)
  expect(await connections(first.user)).toEqual([])
  const change = (body: object) => scene.call('PUT', `/api/v1/mcp-servers/${mcpServerId}`, body)
  expect((await change({ sendUser: true })).status).toBe(200)
  expect(await connections(second.user)).toHaveLength(1)
  expect((await change({ oauthClientId: 'known' })).status).toBe(200)
  expect(await connections(second.user)).toEqual([])
  await change({ oauthClientId: null })
})

verifies('contract-27.auth-fields', 'auth and its client are checked, and the secret reads as ***', async () => {
  const create = (more: object) =>
    scene.call('POST', '/api/v1/mcp-servers', { transport: 'streamable_http', ...fields, ...more })
  for (const more of [
    { transport: 'sse' },
    { headers: { Authorization: 'x' } },
    { auth: 'none', oauthClientId: 'a' },
    { auth: 'none', oauthClientSecret: 'a' },
    { auth: 'other' },
    { oauthClientSecret: '***' },
  ])
    expect([more, (await create(more)).status]).toEqual([more, 400])
  const made = await create({ name: 'with client', oauthClientId: 'me', oauthClientSecret: 'hush' })
  expect(made.json).toMatchObject({ auth: 'user', oauthClientId: 'me', oauthClientSecret: '***' })
  const change = (body: object) => scene.call('PUT', `/api/v1/mcp-servers/${made.json.id}`, body)
  expect((await change({ oauthClientSecret: '***', name: 'again' })).json.oauthClientSecret).toBe('***')
  expect((await change({ url: 'https://example.com/mcp' })).status).toBe(400)
  expect((await change({ oauthClientSecret: null })).json.oauthClientSecret).toBe(null)
})

verifies(
  'contract-27.callback',
  'an issuer that is another one’s, and metadata of another resource, grant nothing',
  async () => {
    const { id, user, pending } = await asked()
    const browser = createBrowser(scene.app.url)
    const named = { authorization_response_iss_parameter_supported: true }
    for (const [metadata, iss] of [
      [named, 'https://other.example.com'],
      [named, `${servers.issuer}/`],
      [named, servers.issuer.toUpperCase()],
      [named, null],
      [{ ...named, authorization_response_iss_parameter_supported: false }, 'https://other.example.com'],
    ] as const) {
      Object.assign(now, { metadata, callback: { iss } })
      expect([iss, (await browser.signIn(pending[0].url)).status]).toEqual([iss, 400])
    }
    seen.authorizations.splice(1)
    Object.assign(now, { metadata: {}, callback: {} })
    now.resource = 'https://other.example.com/mcp'
    expect((await browser.post(pending[0].url)).status).toBe(502)
    expect(seen.authorizations).toHaveLength(1)
    now.resource = null
    expect([seen.tokens, await connections(user)]).toEqual([[], []])
    expect((await session(id)).pending).toHaveLength(1)
    await browser.signIn(pending[0].url)
    await settled(id)
  },
)

verifies('contract-27.connections-go', 'a sign-in that was begun at another url grants nothing', async () => {
  const { id, user, pending } = await asked()
  const browser = createBrowser(scene.app.url)
  const callback = await browser.authorized(pending[0].url)
  const change = (url: string) => scene.call('PUT', `/api/v1/mcp-servers/${mcpServerId}`, { url })
  expect((await change(`${servers.url}?moved`)).status).toBe(200)
  expect((await browser.go(callback)).status).not.toBe(200)
  expect((await change(servers.url)).status).toBe(200)
  expect(await connections(user)).toEqual([])
  expect((await session(id)).pending).toHaveLength(1)
})
