/** Approvals that expire: contract section 29 over real sockets, on two instances. */
import { afterAll, beforeAll, expect } from 'vitest'
import { asks, says } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { type FrontDoor, openFrontDoor } from '../../users/access/front-door-scene.ts'
import { approve, call } from './waiting-scene.ts'

let open: FrontDoor
beforeAll(async () => {
  open = await openFrontDoor({ settings: {} })
  open.up.always((one) => {
    const isAnswered = one.body.messages.some(({ role }: { role: string }) => role === 'tool')
    return (isAnswered ? says('Done.') : asks('', call('current_time', 'c1'), call('current_time', 'c2')))(one)
  })
  await choose({ builtInToolIds: ['current_time'], approvals: '*', approvalsExpireAfterS: 60 })
})
afterAll(() => open.close())

const tools = () => `/api/v1/agents/${open.agentId}/tools`
const choose = (choice: object) => open.asKey('PUT', tools(), choice)

/** A session in which two calls wait. */
async function waiting(extra: object = {}): Promise<string> {
  const { json } = await open.asKey('POST', `${open.deploy()}/sessions`, {})
  const path = `${open.deploy()}/sessions/${json.id}/chat/completions`
  await open.asKey('POST', path, { messages: [{ role: 'user', content: 'Time?' }], ...extra })
  return json.id
}
const sessionOf = async (id: string) => (await open.asKey('GET', `${open.deploy()}/sessions/${id}`)).json
const shown = async (id: string) =>
  (await open.asKey('GET', `/api/v1/agents/${open.agentId}/playground/sessions/${id}/messages`)).json.messages
const decide = (id: string, decisions: object[]) =>
  open.asKey('POST', `${open.deploy()}/sessions/${id}/actions`, { decisions }, open.there)
/** The time of these sessions is over. */
const elapse = (...ids: string[]) =>
  open.here.sql`update waits set expires_at = clock_timestamp() where session_id = any(${ids}::text[]::uuid[])`

verifies('contract-29.expiry-configured', 'a whole number of seconds within its bounds, or null', async () => {
  for (const wrong of [59, 7_776_001, 60.5, '60']) {
    expect([wrong, (await choose({ approvalsExpireAfterS: wrong })).status]).toEqual([wrong, 400])
  }
  expect((await choose({ builtInToolIds: ['current_time'] })).json.approvalsExpireAfterS).toBe(60)
  const exported = async () => (await open.asKey('GET', '/api/v1/export')).json.agentTools[0]
  expect(await exported()).toMatchObject({ approvalsExpireAfterS: 60 })
  const imported = { version: 1, agentTools: [{ ...(await exported()), approvalsExpireAfterS: 120 }] }
  await open.asKey('POST', '/api/v1/import', imported)
  expect((await open.asKey('GET', tools())).json.approvalsExpireAfterS).toBe(120)
  expect((await choose({ approvalsExpireAfterS: null })).json.approvalsExpireAfterS).toBeNull()
  expect((await sessionOf(await waiting())).pending[0]).not.toHaveProperty('expires_at')
  await choose({ approvalsExpireAfterS: 60 })
})

verifies('contract-29.expires', 'the time counts from the end of the reply, with the value in force then', async () => {
  const begin = Date.now()
  const id = await waiting()
  await choose({ approvalsExpireAfterS: 600 })
  const { pending } = await sessionOf(id)
  for (const { expires_at: at } of pending) {
    expect(Date.parse(at)).toBeGreaterThanOrEqual(begin + 59_000)
    expect(Date.parse(at)).toBeLessThan(Date.now() + 61_000)
  }
  expect(pending).toHaveLength(2)
  await choose({ approvalsExpireAfterS: 60 })
})

verifies('contract-29.expires', 'what is undecided is rejected as expired, and what was approved is made', async () => {
  const id = await waiting({ seed: 7 })
  expect((await decide(id, [approve('c2')])).status).toBe(200)
  await elapse(id)
  await expect.poll(async () => (await shown(id)).at(-1).content).toBe('Done.')
  const messages = await shown(id)
  expect(messages).toHaveLength(3)
  expect(messages[1].toolCalls).toMatchObject([
    { decision: 'expired', decidedBy: null, ok: false, content: expect.stringContaining('in time') },
    { decision: 'approve', ok: true },
  ])
  expect(open.up.calls.at(-1)?.body).toMatchObject({ seed: 7 })
  const { entries } = (await open.asKey('GET', '/api/v1/audit?kind=call')).json
  expect(entries[0]).toMatchObject({
    action: 'decide',
    actorKind: 'system',
    recordId: 'c1',
    changes: { decision: { to: 'expired' } },
  })
  await expect
    .poll(() => open.here.sql`select detail from steps where session_id = ${id} and event = 'decided'`)
    .toMatchObject([{ detail: { expired: 1, approve: 1 } }])
})

verifies('contract-29.expires', 'a decision at the same moment wins or loses, and one reply follows', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => waiting()))
  await elapse(...ids)
  const decided = await Promise.all(ids.map((id) => decide(id, [approve('c1'), approve('c2')])))
  for (const [index, id] of ids.entries()) {
    await expect.poll(async () => (await shown(id)).at(-1).content).toBe('Done.')
    const messages = await shown(id)
    expect(messages).toHaveLength(3)
    const expected = decided[index]?.status === 200 ? ['approve', 'approve'] : ['expired', 'expired']
    expect(messages[1].toolCalls.map(({ decision }: { decision: string }) => decision)).toEqual(expected)
  }
})

verifies('contract-29.expires', 'nobody can send it', async () => {
  const id = await waiting()
  const sent = { call_id: 'c1', decision: 'expired' }
  expect((await decide(id, [sent, approve('c2')])).status).toBe(400)
})

verifies('contract-29.expires', 'an instance that drains begins none', async () => {
  const id = await waiting()
  // Instances that do not drain see the time that is over when all of this is committed.
  const undecided = await open.here.sql.begin(async (tx) => {
    await tx`update instances set begins_queued = false`
    await tx`update waits set expires_at = clock_timestamp() where session_id = ${id}`
    await tx`select expire_approvals(i.id, i.epoch, 10) from instances i where i.lost_at is null`
    await tx`update instances set begins_queued = true`
    return await tx`select from waiting_calls where session_id = ${id} and decision is null`
  })
  expect(undecided).toHaveLength(2)
  await expect.poll(async () => (await shown(id)).at(-1).content).toBe('Done.')
})
