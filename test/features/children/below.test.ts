/** A session below another, at that one's paths, for whoever may read that one (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { bearer, DEPLOY_KEY } from '../users/access/front-door-scene.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let ledger: string
let session: string
let child: string
let grandchild: string
beforeAll(async () => {
  scene = await openTreeScene({ settings: { PUBLIC_API_KEY: DEPLOY_KEY } })
  ledger = await scene.newAgent('ledger')
  const billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [{ agentId: ledger }])
  await scene.toolsOf(desk, [{ agentId: billing }])
  scene.plays('desk', asks('', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays('billing', asks('', asking('ledger', 'Ann?')), says('12'))
  scene.plays('ledger', says('+12'))
  session = (await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/sessions`, { user: 'ann' })).json.id
  await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/sessions/${session}/chat/completions`, {
    messages: [{ role: 'user', content: 'Ann?' }],
  })
  const { sessions } = (await by(DEPLOY_KEY, 'GET', `${deploy(desk)}/sessions/${session}/children`)).json
  ;[child, grandchild] = sessions.map(({ id }: { id: string }) => id)
})
afterAll(() => scene.close())

const deploy = (agentId: string) => `/api/v1/agents/${agentId}/deploy`
const by = (token: string, method: string, path: string, body?: unknown) =>
  scene.call(method, path, body, bearer(token))
const secret = async (user: string, more: object = {}) =>
  (await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/client_secrets`, { user, ...more })).json.value
const below = (id: string) => `${deploy(desk)}/sessions/${session}/children/${id}`

verifies(
  'contract-30.child-paths',
  'it is read, followed and cancelled there by who may read the one above',
  async () => {
    for (const token of [DEPLOY_KEY, await secret('ann'), await secret('ann', { session_id: session })]) {
      expect((await by(token, 'GET', below(child))).json).toMatchObject({ id: child, parent: { session_id: session } })
      const { messages } = (await by(token, 'GET', `${below(grandchild)}/messages`)).json
      expect(messages.map(({ content }: { content: string }) => content)).toEqual(['Ann?', '+12'])
      const stream = await by(token, 'GET', `${below(grandchild)}/chat/completions/stream`)
      expect([stream.status, stream.text]).toEqual([200, expect.stringContaining('+12')])
      expect((await by(token, 'POST', `${below(child)}/chat/completions/cancel`)).status).toBe(204)
      // Outside of these paths a secret opens no other agent.
      const own = await by(token, 'GET', `${deploy(ledger)}/sessions/${grandchild}`)
      expect(own.status).toBe(token === DEPLOY_KEY ? 200 : 401)
    }
    const shown = `/api/v1/agents/${desk}/playground/sessions/${session}/children/${grandchild}`
    expect((await scene.call('GET', shown)).json).toMatchObject({ id: grandchild, parent: { sessionId: child } })
    const { messages } = (await scene.call('GET', `${shown}/messages`)).json
    expect(messages[1]).toMatchObject({ content: '+12', toolCalls: [] })
    expect((await scene.call('GET', `${shown}/stream`)).text).toContain('+12')
    expect((await scene.call('POST', `${shown}/cancel`)).status).toBe(204)
  },
)

verifies('contract-30.child-paths', 'what is not below it is unknown there, and nothing else is offered', async () => {
  const other = (await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/sessions`, { user: 'ann' })).json.id
  for (const id of [session, other, 'no-uuid']) expect((await by(DEPLOY_KEY, 'GET', below(id))).status).toBe(404)
  const swapped = `${deploy(desk)}/sessions/${other}/children/${child}`
  expect((await by(DEPLOY_KEY, 'GET', `${swapped}/messages`)).status).toBe(404)
  const ben = await secret('ben')
  for (const path of ['', '/messages', '/chat/completions/stream'])
    expect((await by(ben, 'GET', `${below(child)}${path}`)).status).toBe(404)
  for (const method of ['DELETE', 'PATCH', 'POST'])
    expect((await by(DEPLOY_KEY, method, below(child), {})).status).toBe(405)
  expect((await by(DEPLOY_KEY, 'POST', `${below(child)}/chat/completions`, {})).status).toBe(404)
})
