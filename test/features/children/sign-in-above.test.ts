/** The sign-in that a child waits for, as the session above it sees it: on AG-UI, and beside approvals that expire. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { rest, uiScene } from '../../http/ui-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
const servers = await startSignInServers({ listsOpenly: true })
beforeAll(async () => {
  scene = await openTreeScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const shop = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
  // The first use of MCP takes long on a busy machine.
  await scene.call('GET', `/api/v1/mcp-servers/${shop}/tools`)
  const billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [], { mcpServers: [{ mcpServerId: shop, toolNames: ['*'] }] })
  const approvals = { builtInToolIds: ['current_time'], approvals: ['current_time'], approvalsExpireAfterS: 60 }
  await scene.toolsOf(desk, [{ agentId: billing }], approvals)
})
afterAll(async () => {
  await scene?.close()
  await servers[Symbol.asyncDispose]()
})

const time = { name: 'current_time', arguments: '{}', id: 'time' }
const deskUi = () => uiScene({ ...scene, agent: `/api/v1/agents/${desk}` })
let users = 0

/** A run of the desk, which asks billing for a user whose sign-in is needed, and makes these calls beside. */
async function asked(...calls: { name: string; arguments: string; id: string }[]) {
  const session = randomUUID()
  const user = `user ${++users}`
  scene.plays('desk', asks('', asking('billing', 'Look!'), ...calls))
  scene.plays('billing', asks('', { name: 'shop__orders', arguments: '{}' }))
  await rest(await deskUi().run(session, 'r1', 'Hello', { forwardedProps: { user } }))
  const { pending } = (await scene.sessionOf(desk, session)).json
  const signIn = pending.find(({ kind }: { kind: string }) => kind === 'sign_in')
  scene.plays('billing', says('Order 7.'))
  scene.plays('desk', says('It is order 7.'))
  const resumed = (runId: string, resume: object[], of = user) =>
    deskUi().run(session, runId, '', { messages: [], resume, forwardedProps: { user: of } })
  return { session, pending, signIn, resumed, resolved: { interruptId: signIn.call_id, status: 'resolved' } }
}
const settled = (session: string) =>
  expect
    .poll(async () => (await scene.messagesOf(desk, session)).at(-1))
    .toMatchObject({ status: 'complete', content: 'It is order 7.' })
const pendingOf = async (session: string) =>
  (await scene.sessionOf(desk, session)).json.pending.map(({ kind }: { kind: string }) => kind)
const elapse = (session: string) =>
  scene.app.sql`update waits set expires_at = clock_timestamp() where session_id = ${session}`

verifies('contract-27.goes-on', 'AG-UI’s resolved joins the reply that a child’s sign-in began above it', async () => {
  const { session, signIn, resumed, resolved } = await asked()
  expect((await resumed('r2', [resolved])).status).toBe(409)
  expect((await createBrowser(scene.app.url).signIn(signIn.url)).status).toBe(200)
  for (const runId of ['r3', 'r3', 'r4']) {
    const joined = await resumed(runId, [resolved])
    expect(joined.status).toBe(200)
    const texts = (await rest(joined)).flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []))
    expect(texts.join('')).toBe('It is order 7.')
  }
  await settled(session)
  expect((await resumed('r5', [resolved], 'somebody else')).status).toBe(404)
  expect(await scene.messagesOf(desk, session)).toHaveLength(3)
})

verifies('contract-27.goes-on', 'it is passed over beside the decisions of what else waits above', async () => {
  const { session, pending, signIn, resumed, resolved } = await asked(time)
  expect(pending).toMatchObject([{ kind: 'sign_in' }, { kind: 'approval', call_id: 'time' }])
  await createBrowser(scene.app.url).signIn(signIn.url)
  expect(await pendingOf(session)).toEqual(['approval'])
  expect((await resumed('r2', [resolved])).status).toBe(400)
  const decided = await resumed('r3', [
    resolved,
    { interruptId: 'time', status: 'resolved', payload: { approved: true } },
  ])
  expect(decided.status).toBe(200)
  await rest(decided)
  await settled(session)
})

verifies(
  ['contract-29.expires', 'contract-30.child-waits'],
  'an approval that expires begins nothing while a child’s sign-in waits, which then does',
  async () => {
    const { session, signIn } = await asked(time)
    await elapse(session)
    await expect.poll(() => pendingOf(session)).toEqual(['sign_in'])
    expect(await scene.messagesOf(desk, session)).toHaveLength(2)
    await createBrowser(scene.app.url).signIn(signIn.url)
    await settled(session)
  },
)

verifies(
  ['contract-29.expires', 'contract-30.child-waits'],
  'where a child’s sign-in is done, an approval that expires begins the reply',
  async () => {
    const { session, signIn } = await asked(time)
    await createBrowser(scene.app.url).signIn(signIn.url)
    expect(await pendingOf(session)).toEqual(['approval'])
    await elapse(session)
    await settled(session)
  },
)
