/** The addresses of sign-ins: PUBLIC_URL, our own document, and redirects of what servers name (contract section 27). */
import { afterAll, beforeEach, expect } from 'vitest'
import { asks, openToolScene, startToolServer, type ToolScene } from '../../http/tool-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'

const PUBLIC_URL = 'https://chat.example.com/greenroom'
const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const placed = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1', PUBLIC_URL } })
const unplaced = await openToolScene({ settings: { HOST: '0.0.0.0' } })
const servers = await startSignInServers({ listsOpenly: true })
/** A server to which others redirect. */
const elsewhere = await startToolServer(() => '{}')
afterAll(async () => {
  for (const one of [scene, placed, unplaced]) await one.close()
  await servers[Symbol.asyncDispose]()
  await elsewhere[Symbol.asyncDispose]()
})
const { now, seen } = servers
beforeEach(() => {
  Object.assign(now, { metadata: {}, callsMoved: null, issuerMoved: null, refreshError: null })
  for (const list of [...Object.values(seen), elsewhere.requests]) list.splice(0)
})
const server = { name: 'shop', transport: 'streamable_http', url: servers.url, auth: 'user' }
for (const one of [scene, placed]) {
  const mcpServerId = await one.createMcpServer(server)
  // The first use of MCP takes long on a busy machine.
  await one.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
  await one.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
}

let users = 0
/** A session whose call waits for a sign-in. */
async function asked(on: ToolScene = scene, user = `user ${++users}`) {
  const { id } = (await on.call('POST', on.sessions, { user })).json
  on.up.next(asks('', { name: 'shop__orders', arguments: '{}', id: 'c1' }))
  on.says(['Done.'])
  await on.send(id, 'Hello')
  return { id, user, url: (await on.call('GET', `${on.sessions}/${id}`)).json.pending[0]?.url }
}

verifies(
  'contract-27.auth-fields',
  'where no address is known, each user’s sign-in is refused by its name',
  async () => {
    const refused = { status: 400, json: { message: expect.stringContaining('PUBLIC_URL') } }
    expect(await unplaced.call('POST', '/api/v1/mcp-servers', server)).toMatchObject(refused)
    const id = await unplaced.createMcpServer({ name: 'shop', url: servers.url })
    expect(await unplaced.call('PUT', `/api/v1/mcp-servers/${id}`, { auth: 'user' })).toMatchObject(refused)
    expect((await unplaced.call('GET', `/api/v1/mcp-servers/${id}`)).json.auth).toBe('none')
  },
)

verifies('contract-27.sign-in-page', 'a page that was given out before the address was taken away is 502', async () => {
  const page = await asked()
  const { databaseUrl: DATABASE_URL } = scene.app
  await using other = await openToolScene({ settings: { DATABASE_URL, HOST: '0.0.0.0' } }).then((opened) => ({
    ...opened,
    [Symbol.asyncDispose]: opened.close,
  }))
  const browser = createBrowser(other.app.url)
  const at = page.url.replace(new URL(page.url).origin, other.app.url)
  expect((await browser.go(at)).status).toBe(502)
})

verifies('contract-27.registration', 'our document is there over https alone, and is the client', async () => {
  expect((await scene.call('GET', '/api/oauth/client.json')).status).toBe(404)
  const document = await placed.call('GET', '/api/oauth/client.json')
  expect([document.status, document.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('application/json'),
  ])
  expect(document.json).toMatchObject({
    client_id: `${PUBLIC_URL}/api/oauth/client.json`,
    redirect_uris: [`${PUBLIC_URL}/api/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  })
  now.metadata = { client_id_metadata_document_supported: true }
  const { id, url } = await asked(placed)
  expect(url.startsWith(`${PUBLIC_URL}/api/oauth/start/`)).toBe(true)
  const at = (address: string) => address.replace(PUBLIC_URL, placed.app.url)
  const browser = createBrowser(PUBLIC_URL)
  const [cookie] = (await browser.go(at(url))).headers.getSetCookie()
  for (const word of ['Path=/greenroom/api/oauth', 'HttpOnly', 'Secure', 'SameSite=Lax']) expect(cookie).toContain(word)
  const callback = await browser.authorized(at(url))
  expect(callback.startsWith(`${PUBLIC_URL}/api/oauth/callback?`)).toBe(true)
  expect(seen.authorizations.at(-1)?.get('client_id')).toBe(`${PUBLIC_URL}/api/oauth/client.json`)
  expect((await browser.go(at(callback))).status).toBe(200)
  await expect.poll(async () => (await placed.messages(id)).at(-1)).toMatchObject({ content: 'Done.' })
  expect(seen.registrations).toEqual([])
})

verifies('contract-27.sign-in-page', 'neither route takes a target', async () => {
  const { url } = await asked()
  const browser = createBrowser(scene.app.url)
  const evil = encodeURIComponent('https://evil.example/')
  const leaving = await browser.post(`${url}?to=${evil}&redirect_uri=${evil}&next=${evil}`)
  expect(leaving.status).toBe(303)
  const target = new URL(leaving.headers.get('location') ?? '')
  expect([target.origin, target.searchParams.get('redirect_uri')]).toEqual([
    servers.issuer,
    `${scene.app.url}/api/oauth/callback`,
  ])
  expect(target.href).not.toContain('evil')
})

verifies('contract-27.outbound', 'what is asked of an authorization server follows no redirect elsewhere', async () => {
  const { url, user } = await asked()
  const browser = createBrowser(scene.app.url)
  const callback = await browser.authorized(url)
  now.issuerMoved = elsewhere.url
  expect((await browser.post(url)).status).toBe(502)
  expect((await browser.go(callback)).status).toBe(400)
  expect(elsewhere.requests).toEqual([])
  const { connections } = (await scene.call('GET', `${scene.agent}/deploy/users/${user}/connections`)).json
  expect(connections).toEqual([])
})

verifies('contract-27.tokens-hidden', 'a token is sent to the server’s own url, never along a redirect', async () => {
  const { id, url, user } = await asked()
  await createBrowser(scene.app.url).signIn(url)
  await expect.poll(async () => (await scene.messages(id)).at(-1)).toMatchObject({ content: 'Done.' })
  now.callsMoved = elsewhere.url
  await asked(scene, user)
  expect(seen.calls.at(-1)?.authorization).toMatch(/^Bearer at-/)
  expect(elsewhere.requests).toEqual([])
})
