/** A child that waits for a sign-in or an answer makes the sessions above it wait (contract sections 27 and 30). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { rest, uiScene } from '../../http/ui-scene.ts'
import { startAskingServer } from '../../support/network/asking-server.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
const servers = await startSignInServers({ listsOpenly: true })
const asker = await startAskingServer()
beforeAll(async () => {
  scene = await openTreeScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const shop = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
  const asksToo = await scene.createMcpServer({ name: 'asks', url: asker.url })
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  // The server's tools are known from here on, however slow the machine is.
  for (const id of [shop, asksToo]) await scene.call('GET', `/api/v1/mcp-servers/${id}/tools`)
  const mcpServers = [shop, asksToo].map((mcpServerId) => ({ mcpServerId, toolNames: ['*'] }))
  await scene.toolsOf(billing, [], { mcpServers })
  await scene.toolsOf(desk, [{ agentId: billing }])
})
afterAll(async () => {
  await scene?.close()
  await servers[Symbol.asyncDispose]()
  await asker[Symbol.asyncDispose]()
})

/** The desk asks billing for a user, whose call of this tool waits. */
async function waiting(tool: string, user: string) {
  scene.plays('desk', asks('', asking('billing', 'Look!')))
  scene.plays('billing', asks('', { name: tool, arguments: '{}' }))
  const { session } = await scene.ask(desk, 'Hello', { user })
  const { json } = await scene.sessionOf(desk, session)
  scene.plays('billing', says('Order 7.'))
  scene.plays('desk', says('It is order 7.'))
  return { session, pending: json.pending }
}
const settled = (session: string) =>
  expect
    .poll(async () => (await scene.messagesOf(desk, session)).at(-1))
    .toMatchObject({ status: 'complete', content: 'It is order 7.' })

verifies(
  ['contract-30.child-waits', 'contract-27.goes-on'],
  'the sign-in that a child waits for begins its reply, and its parent follows',
  async () => {
    const { session, pending } = await waiting('shop__orders', 'ann')
    expect(pending).toEqual([
      {
        ...{ call_id: expect.stringMatching(/^call_/), name: 'shop__orders', arguments: '{}', kind: 'sign_in' },
        ...{ server: 'shop', message: 'Sign in to shop to go on.', url: expect.stringContaining('/api/oauth/start/') },
        path: [{ agent_id: billing, session_id: expect.any(String), call_id: expect.any(String) }],
      },
    ])
    const browser = createBrowser(scene.app.url)
    expect((await browser.go(pending[0].url)).text).toContain('billing')
    expect((await browser.signIn(pending[0].url)).status).toBe(200)
    await settled(session)
    expect(servers.seen.calls).toHaveLength(1)
    const of = (agent: string) => scene.call('GET', `/api/v1/agents/${agent}/deploy/users/ann/connections`)
    expect([(await of(billing)).json.connections.length, (await of(desk)).json.connections]).toEqual([1, []])
  },
)

verifies(
  ['contract-30.child-waits', 'contract-27.answers'],
  'a sign-in is declined, and a question is answered, from above',
  async () => {
    const decide = (session: string, decision: object) =>
      scene.call('POST', `/api/v1/agents/${desk}/deploy/sessions/${session}/actions`, { decisions: [decision] })
    const declined = await waiting('shop__orders', 'bob')
    const { call_id } = declined.pending[0]
    expect((await decide(declined.session, { call_id, decision: 'approve' })).status).toBe(400)
    expect((await decide(declined.session, { call_id, decision: 'decline' })).status).toBe(200)
    await settled(declined.session)
    expect(servers.seen.calls).toHaveLength(1)

    const asked = await waiting('asks__form', 'bob')
    expect(asked.pending).toMatchObject([{ kind: 'input', server: 'asks', schema: {}, path: [{ agent_id: billing }] }])
    const answer = { call_id: asked.pending[0].call_id, decision: 'answer', content: { age: 7 } }
    const wrong = await decide(asked.session, { ...answer, content: { age: 'old' } })
    expect([wrong.status, wrong.json.error.param]).toEqual([400, expect.stringMatching(/^decisions\.0\.content/)])
    expect((await decide(asked.session, answer)).status).toBe(200)
    await settled(asked.session)
    expect(asker.calls.at(-1)?.responses).toEqual({ who: { action: 'accept', content: { age: 7 } } })
  },
)

verifies(
  ['contract-30.child-wires', 'contract-27.goes-on'],
  'AG-UI resumes the sign-in of a child: 409 before it, then the reply that followed above',
  async () => {
    const ui = uiScene({ app: scene.app, agent: `/api/v1/agents/${desk}`, call: scene.call })
    const forwardedProps = { user: 'cleo' }
    scene.plays('desk', asks('', { ...asking('billing', 'Look!'), id: 'c1' }))
    scene.plays('billing', asks('', { name: 'shop__orders', arguments: '{}' }))
    const id = randomUUID()
    const events = await rest(await ui.run(id, 'r1', 'Hello', { forwardedProps }))
    const [interrupt] = Object(events.at(-1)?.outcome).interrupts
    expect(interrupt).toMatchObject({ reason: 'sign_in', toolCallId: 'c1', metadata: { server: 'shop' } })
    const resume = [{ interruptId: interrupt.id, status: 'resolved' }]
    const resumed = () => ui.run(id, 'r2', '', { messages: [], resume, forwardedProps })
    expect((await resumed()).status).toBe(409)
    scene.plays('billing', says('Order 7.'))
    scene.plays('desk', says('It is order 7.'))
    expect((await createBrowser(scene.app.url).signIn(interrupt.metadata.url)).status).toBe(200)
    await settled(id)
    const joined = await rest(await resumed())
    expect(joined.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      toolCallId: 'c1',
      content: 'Order 7.',
    })
    expect((await scene.messagesOf(desk, id)).length).toBe(3)
  },
)
