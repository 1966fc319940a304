/** Metadata that agents use which an agent can ask is not for a client secret to set (contract sections 20 and 30). */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says } from './tree-scene.ts'

const scene = await openTreeScene()
afterAll(scene.close)

verifies('contract-30.child-metadata', 'at each depth, as long as the way there is', async () => {
  const ledger = await scene.newAgent('ledger', { systemPrompt: 'Plan: {{session.metadata.plan}}' })
  const billing = await scene.newAgent('billing', { systemPrompt: 'Tier: {{session.metadata.tier}}' })
  const desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [{ agentId: ledger }])
  await scene.toolsOf(desk, [{ agentId: billing }])
  const deploy = `/api/v1/agents/${desk}/deploy`
  const { value } = (await scene.call('POST', `${deploy}/client_secrets`, { user: 'ann' })).json
  const makes = async (metadata: object) => {
    const made = await scene.call('POST', `${deploy}/sessions`, { metadata }, { authorization: `Bearer ${value}` })
    return [made.status, made.json.error?.split(':')[0]]
  }
  expect(await makes({ plan: 'gold' })).toEqual([403, 'metadata.plan'])
  expect(await makes({ tier: 'a' })).toEqual([403, 'metadata.tier'])
  expect(await makes({ note: 'x' })).toEqual([201, undefined])
  await scene.toolsOf(billing, [])
  expect(await makes({ plan: 'gold' })).toEqual([201, undefined])
})

verifies('contract-30.child-metadata', 'a child has with each value who set it', async () => {
  const billing = await scene.newAgent('billing')
  const desk = await scene.newAgent('desk')
  await scene.toolsOf(desk, [{ agentId: billing }])
  const deploy = `/api/v1/agents/${desk}/deploy`
  const { value } = (await scene.call('POST', `${deploy}/client_secrets`, { user: 'bob' })).json
  const headers = { authorization: `Bearer ${value}` }
  const { id } = (await scene.call('POST', `${deploy}/sessions`, { metadata: { note: 'x' } }, headers)).json
  scene.plays('desk', asks('', asking('billing', 'What does Bob owe?')))
  scene.plays('billing', says('Nothing.'))
  scene.plays('desk', says('Nothing.'))
  const messages = [{ role: 'user', content: 'Bob?' }]
  expect((await scene.call('POST', `${deploy}/sessions/${id}/chat/completions`, { messages }, headers)).status).toBe(
    200,
  )
  const [child] = await scene.app.sql`
    select metadata, uncounted from sessions where parent ->> 'session_id' = ${id}`
  expect(child).toEqual({ metadata: { note: 'x' }, uncounted: ['note'] })
})
