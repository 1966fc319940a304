/** Users who sign in at MCP servers (contract section 27), end to end. */
import { afterAll, beforeEach, expect } from 'vitest'
import { asks, callsOfTest, openToolScene } from '../../http/tool-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'

const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const servers = await startSignInServers()
afterAll(async () => {
  await scene.close()
  await servers[Symbol.asyncDispose]()
})
const model = callsOfTest(scene)
const mcpServerId = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
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
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
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
