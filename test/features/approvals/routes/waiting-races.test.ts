/** Two deciders on two instances: contract section 15. DECIDE_RACES sets how many races there are (8). */
import { afterAll, beforeAll, expect } from 'vitest'
import { asks, says } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { type FrontDoor, openFrontDoor } from '../../users/access/front-door-scene.ts'
import { approve, call, reject } from './waiting-scene.ts'

const RACES = Number(process.env.DECIDE_RACES ?? 8)

let open: FrontDoor
beforeAll(async () => {
  open = await openFrontDoor()
  await open.asKey('PUT', `/api/v1/agents/${open.agentId}/tools`, { builtInToolIds: ['current_time'], approvals: '*' })
  open.up.always((one) => {
    const isAnswered = one.body.messages.some(({ role }: { role: string }) => role === 'tool')
    return (isAnswered ? says('Done.') : asks('', call('current_time', 'c1')))(one)
  })
})
afterAll(() => open.close())

verifies('contract-15.one-winner', 'each race has one winner, whose decision is what is stored', async () => {
  for (let race = 0; race < RACES; race++) {
    const { json } = await open.asKey('POST', `${open.deploy()}/sessions`, {})
    const session = `${open.deploy()}/sessions/${json.id}`
    await open.asKey('POST', `${session}/chat/completions`, { messages: [{ role: 'user', content: 'Time?' }] })
    const decide = (decision: object, app = open.here) =>
      open.asKey('POST', `${session}/actions`, { decisions: [decision] }, app)
    const [approved, rejected] = await Promise.all([decide(approve('c1')), decide(reject('c1', 'No.'), open.there)])
    expect([approved.status, rejected.status].sort()).toEqual([200, 409])
    const path = `/api/v1/agents/${open.agentId}/playground/sessions/${json.id}/messages`
    const { messages } = (await open.asKey('GET', path)).json
    expect(messages).toHaveLength(3)
    const decision = approved.status === 200 ? 'approve' : 'reject'
    expect(messages[1].toolCalls).toMatchObject([{ decision, ok: decision === 'approve' }])
  }
})

verifies('contract-15.waiting', 'what waits is decided on another instance, with all that was in force', async () => {
  const { json } = await open.asKey('POST', `${open.deploy()}/sessions`, {})
  const session = `${open.deploy()}/sessions/${json.id}`
  const body = { messages: [{ role: 'user', content: 'Time?' }], max_tokens: 55 }
  await open.asKey('POST', `${session}/chat/completions`, body)
  const answer = await open.asKey('POST', `${session}/actions`, { decisions: [approve('c1')] }, open.there)
  expect(answer.json.choices[0]).toMatchObject({ message: { content: 'Done.' }, finish_reason: 'stop' })
  expect(open.up.calls.at(-1)?.body.max_tokens).toBe(55)
})
