/** The surfaces that show children, and those that do not (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { bearer, DEPLOY_KEY } from '../users/access/front-door-scene.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
beforeAll(async () => {
  scene = await openTreeScene({ settings: { PUBLIC_API_KEY: DEPLOY_KEY } })
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [], { builtInToolIds: ['current_time'], approvals: ['current_time'] })
  await scene.toolsOf(desk, [{ agentId: billing }])
})
afterAll(() => scene.close())

const deploy = (agentId: string) => `/api/v1/agents/${agentId}/deploy`
const by = (token: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
  scene.call(method, path, body, { ...bearer(token), ...more })
const idsOf = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id)
const secretOf = async (agentId: string): Promise<string> =>
  (await by(DEPLOY_KEY, 'POST', `${deploy(agentId)}/client_secrets`, { user: 'ann' })).json.value

/** A desk's session whose one call has been answered; its child. */
async function answered() {
  scene.plays('desk', asks('', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays('billing', says('12'))
  const session = (await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/sessions`, { user: 'ann' })).json.id as string
  const path = `${deploy(desk)}/sessions/${session}`
  await by(DEPLOY_KEY, 'POST', `${path}/chat/completions`, { messages: [{ role: 'user', content: 'Ann?' }] })
  const [child] = (await by(DEPLOY_KEY, 'GET', `${path}/children`)).json.sessions
  return { session, path, child: child.id as string }
}

verifies('contract-30.child-lists', 'a client secret lists its children only where it asks for them', async () => {
  const { child } = await answered()
  const own = `${deploy(billing)}/sessions`
  const secret = await secretOf(billing)
  const listed = async (token: string, query = '') =>
    idsOf((await by(token, 'GET', `${own}${query}`)).json.sessions).includes(child)
  expect(await listed(DEPLOY_KEY)).toBe(true)
  expect(await listed(secret)).toBe(false)
  expect(await listed(secret, '?children=true')).toBe(true)
  expect(await listed(secret, '?children=false')).toBe(false)
})

/** The ids of the records that a followed list sends, up to this one. */
async function sentUntil(list: SseStream, id: string): Promise<string[]> {
  const ids: string[] = []
  while (ids.at(-1) !== id) {
    const frame = await list.next()
    if (frame === null) throw new Error(`the list has ended after ${list.raw()}`)
    if (frame.event === 'session') ids.push(JSON.parse(frame.data).id)
  }
  return ids
}

verifies('contract-30.child-lists', 'a live list follows the same parameter, with the same defaults', async () => {
  const secret = await secretOf(billing)
  const follow = (token: string, query = '') =>
    openSse(`${scene.app.url}${deploy(billing)}/sessions/stream${query}`, undefined, bearer(token))
  const lists = await Promise.all([
    follow(DEPLOY_KEY),
    follow(DEPLOY_KEY, '?children=false'),
    follow(secret),
    follow(secret, '?children=true'),
  ])
  const { child } = await answered()
  const { id: last } = (await by(DEPLOY_KEY, 'POST', `${deploy(billing)}/sessions`, { user: 'ann' })).json
  const sent = await Promise.all(lists.map((list) => sentUntil(list, last)))
  expect(sent.map((ids) => ids.includes(child))).toEqual([true, false, false, true])
  for (const list of lists) list.leave()
  expect((await by(DEPLOY_KEY, 'GET', `${deploy(billing)}/sessions/stream?children=maybe`)).status).toBe(400)
})

verifies('contract-30.child-paths', 'the origins below a session are those of its agent', async () => {
  const { path, child } = await answered()
  const origin = 'https://desk.example'
  expect((await scene.call('PUT', `/api/v1/agents/${desk}`, { allowedOrigins: [origin] })).status).toBe(200)
  const allowed = async (secret: string, where: string) => {
    const { status, headers } = await by(secret, 'GET', where, undefined, { origin })
    return [status, headers.get('access-control-allow-origin')]
  }
  expect(await allowed(await secretOf(desk), `${path}/children/${child}`)).toEqual([200, origin])
  expect(await allowed(await secretOf(billing), `${deploy(billing)}/sessions/${child}`)).toEqual([200, null])
})

verifies('contract-30.child-wires', 'the Responses API shows no child, nor what one asks', async () => {
  scene.plays('desk', asks('', asking('billing', 'Time?')))
  scene.plays('billing', asks('', { name: 'current_time', arguments: '{}' }))
  const made = await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/responses`, { input: 'Time?' })
  expect([made.json.status, made.json.output]).toEqual(['completed', []])
  const { json } = await by(DEPLOY_KEY, 'GET', `${deploy(desk)}/responses/${made.json.id}`)
  expect(json.output).toEqual([])
  const items = await by(DEPLOY_KEY, 'GET', `${deploy(desk)}/responses/${made.json.id}/input_items`)
  expect(items.json.data.map(({ type }: { type: string }) => type)).toEqual(['message'])
})

verifies('contract-30.parent', 'a call names its child on the named event, as soon as it is seen', async () => {
  const runs = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  scene.plays('desk', asks('', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays('billing', async (call) => {
    runs.resolve()
    await gate.promise
    await says('12')(call)
  })
  const session = (await by(DEPLOY_KEY, 'POST', `${deploy(desk)}/sessions`, {})).json.id
  const stream = await openSse(`${scene.app.url}/api/v1/agents/${desk}/playground/chat`, {
    sessionId: session,
    message: 'Ann?',
  })
  let called = await stream.next()
  while (called !== null && called.event !== 'tool_call') called = await stream.next()
  await runs.promise
  const { child } = JSON.parse(called?.data ?? '{}')
  const { json } = await by(DEPLOY_KEY, 'GET', `${deploy(billing)}/sessions/${child.sessionId}`)
  expect([child.agentId, json.id, json.parent.session_id]).toEqual([billing, child.sessionId, session])
  gate.resolve()
  await stream.rest()
})
