/** Contract section 30: agents that ask agents by MCP know how deep they are. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { bearer, DEPLOY_KEY } from '../../../features/users/access/front-door-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'
import { type FaceScene, openFaceScene } from './face-scene.ts'

let scene: FaceScene
let mcpServerId: string
beforeAll(async () => {
  scene = await openFaceScene({ settings: {} })
  // The agent has itself as a server, and its model always asks on, once.
  const server = {
    name: 'self',
    transport: 'streamable_http',
    url: `${scene.here.url}${scene.path}`,
    headers: bearer(DEPLOY_KEY),
  }
  mcpServerId = (await scene.asKey('POST', '/api/v1/mcp-servers', server)).json.id
})
beforeEach(async () => {
  await scene.sql`delete from sessions`
  scene.up.always(async (one) => {
    const last = one.body.messages.at(-1)
    if (last.role === 'tool') await one.text(`told: ${last.content}`)
    else await one.toolCall({ name: one.body.tools[0].function.name, arguments: '{"message":"deeper"}' })
    await one.finish(last.role === 'tool' ? 'stop' : 'tool_calls')
  })
})
afterAll(() => scene.close())

const choose = (approvals: unknown) =>
  scene.asKey('PUT', `/api/v1/agents/${scene.agentId}/tools`, {
    mcpServers: [{ mcpServerId, toolNames: ['*'] }],
    approvals,
  })

/** The depths of all replies, in the order in which they began. */
async function depths(): Promise<(number | null)[]> {
  const rows = await scene.sql<{ depth: number | null }[]>`
    select facts -> 'depth' as depth from messages where role = 'assistant' order by created_at, position`
  return rows.map(({ depth }) => depth)
}

verifies('contract-30.face-depth', 'a loop ends at the fourth call', async () => {
  await choose([])
  const id = await scene.session(null)
  const { json } = await scene.asKey('POST', `${scene.deploy()}/sessions/${id}/chat/completions`, {
    messages: [{ role: 'user', content: 'go' }],
  })
  expect(await depths()).toEqual([null, 1, 2, 3])
  expect(json.choices[0].message.content).toContain('Agents asked agents 4 times in a row')
})

verifies('contract-30.face-depth', 'a reply that follows a decision is as deep; the next message is not', async () => {
  await choose('*')
  await using at = await scene.client('modern')
  const first = await at.ask({ message: 'go' }, { meta: { 'greenroom/depth': 3 } })
  const { session_id, status } = first.structuredContent
  expect(status).toBe('waiting')
  const session = `${scene.deploy()}/sessions/${session_id}`
  const { pending } = (await scene.asKey('GET', session)).json
  const decisions = [{ call_id: pending[0].call_id, decision: 'approve' }]
  const followed = await scene.asKey('POST', `${session}/actions`, { decisions })
  expect(followed.json.choices[0].message.content).toContain('Agents asked agents 4 times in a row')
  await scene.asKey('POST', `${session}/chat/completions`, { messages: [{ role: 'user', content: 'more' }] })
  expect(await depths()).toEqual([3, 3, null])
})

verifies('contract-30.face-depth', 'a child is as deep as the session that asks it', async () => {
  await choose([])
  const desk = await scene.newAgent()
  await scene.asKey('PUT', `/api/v1/agents/${desk}/tools`, { agentTools: [{ agentId: scene.agentId }] })
  const params = { name: 'ask', arguments: { message: 'go' }, _meta: { 'greenroom/depth': 2 } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { text } = await call(`${scene.here.url}${scene.deploy(desk)}/mcp`, 'POST', body, {
    accept: 'application/json, text/event-stream',
    ...bearer(DEPLOY_KEY),
  })
  expect(text).toContain('Agents asked agents 4 times in a row')
  expect(await depths()).toEqual([2, 2, 3])
})

verifies('contract-30.face-depth', 'what is no depth is refused', async () => {
  await using at = await scene.client('modern')
  for (const depth of [0, 4, 1.5, '1', -1]) {
    const { isError } = await at.ask({ message: 'go' }, { meta: { 'greenroom/depth': depth } })
    expect([depth, isError, await depths()]).toEqual([depth, true, []])
  }
})
