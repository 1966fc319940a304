/** How much is remembered, of which calls, and who may revoke it (contract section 29). */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openRememberingScene } from './remembering-scene.ts'
import { approve, callsOfWaitingTest, reject } from './waiting-scene.ts'

const { scene, sessionOf, asksPay, decide } = await openRememberingScene()
afterAll(scene.close)
callsOfWaitingTest(scene)

const rule = 'contract-29.remember-refused'
const owners = [
  ['session', null],
  ['user', 'kim'],
] as const

for (const [remember, user] of owners)
  verifies(rule, `a ${remember} has at most 200`, async () => {
    const id = await sessionOf(user)
    await asksPay(id, '{"amount":1}')
    await scene.app.sql`
      insert into remembered_decisions (id, agent_id, session_id, end_user, tool, name, decision, reach, by_secret)
      select gen_random_uuid(), ${scene.agentId}, ${user === null ? id : null}, ${user}, 'built-in:x', 'x', 'approve',
             sha256(n::text::bytea), false
        from generate_series(1, 200) n`
    const more = await scene.decide(id, [{ ...approve('c1'), remember }])
    expect([more.status, more.json.error.message]).toEqual([400, expect.stringContaining('remember')])
    expect((await scene.session(id)).pending).toHaveLength(1)
  })

verifies(rule, 'values that narrow it hold 16 KiB at most', async () => {
  const id = await sessionOf(null)
  const wish = { ...approve('c1'), remember: 'session', remember_arguments: ['to'] }
  await asksPay(id, JSON.stringify({ to: 'x'.repeat(16_384) }))
  expect((await scene.decide(id, [wish])).status).toBe(400)
  expect((await decide(id, reject('c1'))).status).toBe(200)
  await asksPay(id, JSON.stringify({ to: 'x'.repeat(16_300) }))
  expect((await decide(id, wish)).status).toBe(200)
})

verifies('contract-29.remembered', 'arguments in which a name stands twice are never approved by it', async () => {
  const id = await sessionOf(null)
  await asksPay(id, '{"amount":1}')
  await decide(id, { ...approve('c1'), remember: 'session' })
  expect(await asksPay(id, '{"amount":2}')).toBe(false)
  expect(await asksPay(id, '{"amount":1,"amount":9}')).toBe(true)
})

verifies('contract-29.revoked', 'a client secret revokes no rejection that it did not make', async () => {
  const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'lea' })
  const secret = { authorization: `Bearer ${made.json.value}` }
  const id = await sessionOf('lea')
  const path = `${scene.sessions}/${id}/decisions`
  const revoke = async () => {
    const [newest] = (await scene.call('GET', path, undefined, secret)).json.decisions
    return (await scene.call('DELETE', `${path}/${newest.id}`, undefined, secret)).status
  }
  await asksPay(id, '{"amount":1}')
  await decide(id, { ...reject('c1'), remember: 'session' })
  expect(await revoke()).toBe(403)
  await scene.call('DELETE', `${path}/${(await scene.call('GET', path)).json.decisions[0].id}`)
  await asksPay(id, '{"amount":1}')
  await decide(id, { ...approve('c1'), remember: 'session' })
  expect(await revoke()).toBe(204)
})
