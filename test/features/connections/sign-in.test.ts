/** Users who sign in at MCP servers (contract section 27), end to end. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect } from 'vitest'
import { asks, callsOfTest, openToolScene } from '../../http/tool-scene.ts'
import { rest, uiScene } from '../../http/ui-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'

const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const servers = await startSignInServers()
afterAll(async () => {
  await scene.close()
  await servers[Symbol.asyncDispose]()
})
const model = callsOfTest(scene)
const ui = uiScene(scene)
const mcpServerId = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
// The first use of MCP takes long on a busy machine.
const listed = await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
const { now, seen } = servers
const fresh = { metadata: {}, refreshError: null, neededScope: null, expiresIn: 3600, callback: {} }
beforeEach(() => {
  Object.assign(now, fresh)
  for (const list of Object.values(seen)) list.splice(0)
})

let users = 0
const session = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json
const newSession = async (user: string) => (await scene.call('POST', scene.sessions, { user })).json.id
const connections = (user: string) => scene.call('GET', `${scene.agent}/deploy/users/${user}/connections`)

/** A session in which the model has called a tool of the server. */
async function asked(tool = 'sign_in', user = `user ${++users}`) {
  const id = await newSession(user)
  scene.up.next(asks('Well. ', { name: `shop__${tool}`, arguments: '{}', id: 'c1' }))
  scene.says(['Done.'])
  await scene.send(id, 'Hello')
  return { id, user, pending: (await session(id)).pending }
}
/** Waits until the session waits for nothing, and no reply runs. */
const settled = (id: string) =>
  expect.poll(async () => (await scene.messages(id)).at(-1)).toMatchObject({ status: 'complete', content: 'Done.' })
const told = async (nth: number) =>
  (await model.sent(nth)).messages.findLast(({ role }: { role: string }) => role === 'tool')?.content

verifies(
  ['contract-27.no-grant', 'contract-27.sign-in-pending', 'contract-27.sign-in-page', 'contract-27.goes-on'],
  'a server that answers 401 is offered as a sign-in, after which its tools are there',
  async () => {
    const { id, user, pending } = await asked()
    const { tools } = await model.sent(1)
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['shop__sign_in'])
    expect(pending).toEqual([
      {
        ...{ call_id: 'c1', name: 'shop__sign_in', arguments: '{}', kind: 'sign_in', server: 'shop' },
        message: 'Sign in to shop to go on.',
        url: expect.stringMatching(new RegExp(`^${scene.app.url}/api/oauth/start/`)),
      },
    ])
    const browser = createBrowser(scene.app.url)
    const page = await browser.go(pending[0].url)
    expect(page.status).toBe(200)
    for (const words of ['shop', new URL(servers.url).host, 'Agent', user]) expect(page.text).toContain(words)
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual([
      'no-referrer',
      'no-store',
    ])
    expect(page.text).not.toContain('<script')
    const done = await browser.signIn(pending[0].url)
    expect([done.status, done.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    const [query] = seen.authorizations
    expect(query?.get('code_challenge_method')).toBe('S256')
    expect(query?.get('resource')).toBe(servers.url)
    expect(query?.get('scope')).toBe('orders')
    expect(query?.get('redirect_uri')).toBe(`${scene.app.url}/api/oauth/callback`)
    await settled(id)
    expect(await told(2)).toBe('The user has signed in to shop. Its tools are there now.')
    const after = await model.sent(2)
    expect(after.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['shop__orders'])
    expect((await connections(user)).json.connections).toMatchObject([{ server: 'shop', scope: 'orders' }])
    const [, shown] = await scene.shown(id)
    expect(shown.toolCalls).toMatchObject([{ id: 'c1', decision: 'signed_in', decidedBy: user, ok: true }])
    // Another session of the user needs no sign-in.
    const next = await asked('orders', user)
    expect(next.pending).toEqual([])
    expect(seen.calls).toHaveLength(1)
    expect(seen.calls[0]?.authorization).toMatch(/^Bearer at-/)
    expect(seen.registrations).toHaveLength(1)
  },
)

verifies('contract-27.no-grant', 'the list in management says that each user signs in', () => {
  expect([listed.status, listed.text]).toEqual([502, expect.stringContaining('each user signs in')])
})

verifies('contract-27.sign-in-pending', 'only decline is taken, and the model is told', async () => {
  const { id, pending } = await asked()
  const actions = (decision: object) =>
    scene.call('POST', `${scene.sessions}/${id}/actions`, { decisions: [{ call_id: 'c1', ...decision }] })
  for (const decision of ['answer', 'cancel', 'approve', 'reject'])
    expect([decision, (await actions({ decision })).status]).toEqual([decision, 400])
  expect((await actions({ decision: 'decline', content: {} })).status).toBe(400)
  expect((await actions({ decision: 'signed_in' })).status).toBe(400)
  expect((await actions({ decision: 'decline' })).status).toBe(200)
  expect(await told(2)).toBe('The user did not sign in to shop. The call was not made.')
  expect((await createBrowser(scene.app.url).go(pending[0].url)).status).toBe(404)
})

verifies(
  'contract-27.goes-on',
  'AG-UI’s resolved is passed over beside other decisions after the sign-in',
  async () => {
    const id = randomUUID()
    const sign = { name: 'shop__sign_in', arguments: '{}', id: 'c1' }
    scene.up.next(asks('', sign, { ...sign, id: 'c2' }))
    scene.says(['Done.'])
    await rest(await ui.run(id, 'r1', 'Hello', { forwardedProps: { user: `user ${++users}` } }))
    const { pending } = await session(id)
    const resume = [
      { interruptId: 'c1', status: 'resolved' },
      { interruptId: 'c2', status: 'cancelled' },
    ]
    const resumed = async (runId: string, entries: object[]) =>
      await ui.run(id, runId, '', { messages: [], resume: entries })
    expect((await resumed('r2', resume)).status).toBe(409)
    await createBrowser(scene.app.url).signIn(pending[0].url)
    expect((await resumed('r3', resume.slice(0, 1))).status).toBe(400)
    await rest(await resumed('r4', resume))
    await settled(id)
    const [, shown] = await scene.shown(id)
    expect(shown.toolCalls).toMatchObject([
      { id: 'c1', decision: 'signed_in' },
      { id: 'c2', decision: 'decline' },
    ])
  },
)

verifies('contract-27.goes-on', 'AG-UI’s resolved alone joins the reply that the sign-in began', async () => {
  const id = randomUUID()
  const user = `user ${++users}`
  scene.up.next(asks('', { name: 'shop__sign_in', arguments: '{}', id: 'c1' }))
  scene.says(['Done.'])
  await rest(await ui.run(id, 'r1', 'Hello', { forwardedProps: { user } }))
  const { pending } = await session(id)
  const resume = [{ interruptId: 'c1', status: 'resolved' }]
  const resumed = async (runId: string, of = user) =>
    await ui.run(id, runId, '', { messages: [], resume, forwardedProps: { user: of } })
  expect((await resumed('r2')).status).toBe(409)
  await createBrowser(scene.app.url).signIn(pending[0].url)
  for (const runId of ['r3', 'r4', 'r3']) {
    const joined = await resumed(runId)
    expect(joined.status).toBe(200)
    const events = await rest(joined)
    expect(events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['RUN_STARTED', 'TEXT_MESSAGE_CONTENT', 'RUN_FINISHED']),
    )
  }
  expect(await scene.shown(id)).toHaveLength(3)
})

verifies('contract-27.sign-in-page', 'a click counts only with cookie, form value and own Origin', async () => {
  const { user, pending } = await asked()
  const [{ url }] = pending
  const browser = createBrowser(scene.app.url)
  expect((await browser.post(url, { origin: 'https://evil.example' })).status).toBe(403)
  expect((await browser.post(url, { origin: '' })).status).toBe(403)
  expect((await browser.post(url, { form: 'x' })).status).toBe(403)
  const other = createBrowser(scene.app.url)
  expect((await other.go(url, { method: 'POST', headers: { origin: scene.app.url } })).status).toBe(403)
  expect((await browser.go(`${url.slice(0, -2)}xx`)).status).toBe(404)
  expect(seen.authorizations).toEqual([])
  now.metadata = { authorization_endpoint: 'http://example.com/authorize' }
  expect((await browser.post(url)).status).toBe(502)
  now.metadata = {}
  const leaving = await browser.post(url)
  expect([leaving.status, leaving.headers.get('location')?.startsWith(servers.issuer)]).toEqual([303, true])
  expect((await connections(user)).json.connections).toEqual([])
})

verifies('contract-27.callback', 'a state is good once, in its browser, without an error', async () => {
  const { id, user, pending } = await asked()
  const [{ url }] = pending
  const browser = createBrowser(scene.app.url)
  const refused = async (callback: string, by = browser) => {
    const answer = await by.go(callback)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    for (const value of new URL(callback).searchParams.values())
      if (value.length > 8) expect(answer.text).not.toContain(value)
    expect((await connections(user)).json.connections).toEqual([])
  }
  const used = await browser.authorized(url)
  await refused(used, createBrowser(scene.app.url))
  await refused(used)
  for (const callback of [
    { iss: 'https://evil.example' },
    { iss: null },
    { error: 'access_denied' },
    { code: 'wrong' },
  ]) {
    now.callback = callback
    await refused(await browser.authorized(url))
  }
  now.callback = {}
  for (const name of ['state', 'code', 'iss']) await refused(`${await browser.authorized(url)}&${name}=a`)
  const late = await browser.authorized(url)
  await scene.app.sql`update mcp_sign_ins set expires_at = clock_timestamp() - interval '1 second'`
  await refused(late)
  expect((await session(id)).pending).toEqual(pending)
  const good = await browser.authorized(url)
  expect((await browser.go(good)).status).toBe(200)
  expect((await browser.go(good)).status).toBe(400)
  await settled(id)
  expect((await connections(user)).json.connections).toHaveLength(1)
})

verifies('contract-27.callback', 'variants of callbacks make no grant, and lead nowhere', async () => {
  const { id, user, pending } = await asked()
  const browser = createBrowser(scene.app.url)
  const good = new URL(await browser.authorized(pending[0].url))
  let seed = 7
  const random = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % most
  }
  const bad = [
    '',
    '%00',
    'null',
    '../..',
    '//evil.example',
    "' or 1=1",
    'ü'.repeat(300),
    '<script>',
    'https://evil.example/',
  ]
  for (let nth = 0; nth < samples(100, 500); nth++) {
    const query = new URLSearchParams(good.searchParams)
    const state = query.get('state') ?? ''
    const at = random(state.length)
    const changed = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1)
    query.set('state', [changed, state.slice(0, at), state + state, bad[random(bad.length)] ?? ''][random(4)] ?? '')
    const name = ['code', 'iss', 'redirect_uri', 'to', 'error', 'state[]', 'next'][random(7)] ?? ''
    query.set(name, bad[random(bad.length)] ?? '')
    const answer = await browser.go(`${good.origin}${good.pathname}?${query}`)
    expect([query.toString(), answer.status, answer.headers.get('location')]).toEqual([query.toString(), 400, null])
    expect(answer.text).not.toMatch(/evil|<script/)
  }
  expect((await connections(user)).json.connections).toEqual([])
  expect(seen.tokens).toEqual([])
  expect((await session(id)).pending).toEqual(pending)
  expect((await browser.go(good.href)).status).toBe(200)
  await settled(id)
})

verifies('contract-27.outbound', 'what a server names may only be public, where nothing allows it', async () => {
  await using strict = await openClosedScene()
  const { pending } = await strict.asked()
  const answer = await createBrowser(strict.url).post(pending[0].url)
  expect(answer.status).toBe(502)
  expect(seen.authorizations).toEqual([])
})

/** Opens the product where `OUTBOUND_ALLOW` is empty. */
async function openClosedScene() {
  const closed = await openToolScene()
  const id = await closed.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
  await closed.choose({ mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] })
  return {
    url: closed.app.url,
    async asked() {
      const made = await closed.call('POST', closed.sessions, { user: 'ann' })
      closed.up.next(asks('', { name: 'shop__sign_in', arguments: '{}', id: 'c1' }))
      closed.says(['Done.'])
      await closed.send(made.json.id, 'Hello')
      return (await closed.call('GET', `${closed.sessions}/${made.json.id}`)).json
    },
    [Symbol.asyncDispose]: closed.close,
  }
}
