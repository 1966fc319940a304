/** What waits is read and decided through the client, whatever happens to the connection. */
import { expect } from 'vitest'
import { ApiError, type Reply, type ReplyEvent } from '../../packages/client/src/index.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const scene = await openClientScene()
const { agent, client, up } = scene
await scene.call('PUT', `/api/v1/agents/${scene.agentId}/tools`, { builtInToolIds: ['current_time'], approvals: '*' })
up.always(async (call) => {
  if (call.body.messages.some(({ role }: { role: string }) => role === 'tool')) await call.text('It is late.')
  else await call.toolCall({ index: 0, id: 'c1', name: 'current_time', arguments: '{}' })
  await call.finish()
})

async function allOf(reply: Reply<unknown>): Promise<ReplyEvent[]> {
  const events: ReplyEvent[] = []
  for await (const event of reply) events.push(event)
  return events
}

verifies(
  'contract-15.client',
  'pending lists what waits, decide goes on from there, and the faster one wins',
  async () => {
    const session = agent.session()
    expect(await session.pending()).toEqual([])
    const asked = session.send('What time is it?', { actions: true })
    const events = await allOf(asked)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(await session.pending()).toEqual([
      { call_id: 'c1', name: 'current_time', arguments: '{}', kind: 'approval' },
    ])
    const reply = session.decide([{ call_id: 'c1', decision: 'approve' }])
    expect(await reply.text()).toBe('It is late.')
    expect(await reply.message()).toMatchObject({ finish_reason: 'stop' })
    expect(await session.pending()).toEqual([])
    const late = session.decide([{ call_id: 'c1', decision: 'reject' }])
    await expect(late.text()).rejects.toMatchObject({ status: 409 })
    await expect(late.text()).rejects.toBeInstanceOf(ApiError)
  },
)

verifies('contract-15.client', 'the playground’s sessions too, over a connection that breaks', async () => {
  const session = client.playground(scene.agentId).session(null)
  const events = await allOf(session.send('Time?'))
  expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
  const states: string[] = []
  const next = Promise.withResolvers<UpstreamCall>()
  up.next(next.resolve)
  const reply = session.decide([{ call_id: 'c1', decision: 'approve' }], {
    onConnection: (state) => states.push(state),
  })
  const text = reply.text()
  const call = await next.promise
  await expect.poll(() => states).toEqual(['open'])
  scene.proxy.drop()
  await expect.poll(() => states).toEqual(['open', 'lost', 'open'])
  await call.text('It is late.')
  await call.finish()
  expect(await text).toBe('It is late.')
  const messages = await session.messages()
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant'])
})
