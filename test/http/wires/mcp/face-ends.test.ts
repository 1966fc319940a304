/** Contract section 30: how calls of an agent's MCP face end before their reply does, and what waits. */
import { afterAll, expect } from 'vitest'
import { bearer, DEPLOY_KEY } from '../../../features/users/access/front-door-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'
import { eras, openFaceScene } from './face-scene.ts'

const scene = await openFaceScene()
afterAll(scene.close)

const stateOf = async (id: string): Promise<string | undefined> => {
  const [row] = await scene.sql<{ status: string }[]>`select status from sessions where id = ${id}`
  return row?.status
}

for (const key of [null, 'comes back']) {
  const title = key === null ? 'is cancelled when its response is closed' : 'with a key runs on, and is joined'
  verifies('contract-30.face-cancel', `modern: a call ${title}`, async () => {
    const id = await scene.session(null)
    await using at = await scene.client('modern')
    const begun = scene.byHand()
    const leaving = new AbortController()
    const meta = key === null ? {} : { 'greenroom/idempotency-key': key }
    const args = { message: 'go', session_id: id }
    const asked = at.ask(args, { meta, signal: leaving.signal })
    const upstream = await begun
    leaving.abort()
    await expect(asked).rejects.toThrow()
    if (key === null) return await expect.poll(() => stateOf(id)).toBe('cancelled')
    await using elsewhere = await scene.client('modern', { app: scene.there })
    const joined = elsewhere.ask(args, { meta })
    await upstream.text('whole')
    await upstream.finish()
    expect((await joined).structuredContent).toMatchObject({ text: 'whole', status: 'complete' })
  })
}

verifies('contract-30.face-cancel', 'legacy: a lost connection stops nothing, and the same id joins', async () => {
  const id = await scene.session(null)
  const initialize = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const session = (await scene.message(initialize)).headers.get('mcp-session-id') ?? ''
  expect(session).toMatch(/^mcp-/)
  const send = (signal: AbortSignal | null, app = scene.here) =>
    fetch(`${app.url}${scene.path}`, {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
        ...bearer(DEPLOY_KEY),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'ask', arguments: { message: 'go', session_id: id } },
      }),
    })
  const begun = scene.byHand()
  const leaving = new AbortController()
  const response = await send(leaving.signal)
  const upstream = await begun
  leaving.abort()
  await response.text().catch(() => {})
  const joined = send(null, scene.there).then((again) => again.text())
  await upstream.text('whole')
  await upstream.finish()
  expect(await joined).toContain('"status":"complete"')
})

verifies('contract-30.face-cancel', 'legacy: the notification cancels on any instance, for who may read', async () => {
  const id = await scene.session('anna')
  await using at = await scene.client('legacy', { token: await scene.secret('anna') })
  const session = Object(at.client.transport).sessionId
  const begun = scene.byHand()
  const asked = at.ask({ message: 'go', session_id: id })
  await begun
  const [row] = await scene.sql<{ key: string }[]>`select key from idempotency_keys where session_id = ${id}`
  const requestId = Number(row?.key.slice(session.length + 1))
  const cancelAs = (token: string, mcpSession = session) =>
    scene.message(
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
      { token, app: scene.there, headers: { 'mcp-session-id': mcpSession } },
    )
  const ben = await cancelAs(await scene.secret('ben'))
  const unknown = await cancelAs(DEPLOY_KEY, 'mcp-11111111-1111-4111-8111-111111111111')
  expect([ben.status, unknown.status, await stateOf(id)]).toEqual([202, 202, 'streaming'])
  expect((await cancelAs(DEPLOY_KEY)).status).toBe(202)
  expect((await asked).structuredContent.status).toBe('cancelled')
})

verifies(
  'contract-30.face-cancel',
  'legacy: the notification also cancels a call that has a key of its own',
  async () => {
    await using at = await scene.client('legacy')
    const begun = scene.byHand()
    const leaving = new AbortController()
    const meta = { 'greenroom/idempotency-key': 'its own' }
    const asked = at.ask({ message: 'go' }, { meta, signal: leaving.signal })
    await begun
    const [row] = await scene.sql<{ id: string }[]>`select session_id as id from idempotency_keys where key = 'its own'`
    leaving.abort() // the client sends the notification
    await expect(asked).rejects.toThrow()
    await expect.poll(() => stateOf(row?.id ?? '')).toBe('cancelled')
  },
)

for (const era of eras) {
  verifies(
    'contract-30.face-refusals',
    `${era}: a call that waits is named, and the session takes no other`,
    async () => {
      await scene.asKey('PUT', `/api/v1/agents/${scene.agentId}/tools`, {
        builtInToolIds: ['current_time'],
        approvals: '*',
      })
      scene.up.next(async (one) => {
        await one.toolCall({ name: 'current_time', arguments: '{}' })
        await one.finish('tool_calls')
      })
      await using at = await scene.client(era)
      const meta = { 'greenroom/idempotency-key': `${era} waits` }
      const first = await at.ask({ message: 'what time is it' }, { meta })
      const { session_id, status } = first.structuredContent
      expect([status, first.content[0]?.text]).toEqual([
        'waiting',
        'The agent waits for a decision about: current_time.',
      ])
      const before = await scene.stored()
      const other = await at.ask({ message: 'other', session_id })
      expect([other.isError, await scene.stored()]).toEqual([true, before])
      expect(await at.ask({ message: 'what time is it' }, { meta })).toEqual(first)
    },
  )
}

verifies('contract-30.face-refusals', 'a call that waits in a child is named as well', async () => {
  await scene.asKey('PUT', `/api/v1/agents/${scene.agentId}/tools`, {
    builtInToolIds: ['current_time'],
    approvals: '*',
  })
  const desk = await scene.newAgent()
  await scene.asKey('PUT', `/api/v1/agents/${desk}/tools`, { agentTools: [{ agentId: scene.agentId }] })
  scene.up.always(async (one) => {
    await one.toolCall({ name: one.body.tools[0].function.name, arguments: '{"message":"what time is it"}' })
    await one.finish('tool_calls')
  })
  const params = { name: 'ask', arguments: { message: 'go' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { text } = await call(`${scene.here.url}${scene.deploy(desk)}/mcp`, 'POST', body, {
    accept: 'application/json, text/event-stream',
    ...bearer(DEPLOY_KEY),
  })
  expect(text).toContain('The agent waits for a decision about: current_time.')
})

verifies('contract-30.face-drain', 'a draining instance takes no call', async () => {
  const other = await scene.another()
  await using _ = other
  const begun = scene.byHand()
  const id = await scene.session(null)
  await using at = await scene.client('legacy', { app: other })
  const asked = at.ask({ message: 'go', session_id: id })
  const upstream = await begun
  const stopped = other.stop()
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: { message: 'x' } } }
  const { status, headers, json } = await scene.message(body, { app: other })
  expect([status, headers.get('retry-after'), json]).toEqual([503, '2', { error: expect.any(String) }])
  await upstream.finish()
  expect((await asked).structuredContent.status).toBe('complete')
  await stopped
})
