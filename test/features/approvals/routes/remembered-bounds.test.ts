/** How much is remembered, of which calls, and who may revoke it (contract section 29). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { openRememberingScene } from './remembering-scene.ts'
import { approve, call, callsOfWaitingTest, reject } from './waiting-scene.ts'

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

for (const [remember, user] of owners)
  verifies(
    'contract-29.remembered',
    `of a ${remember}: another decision of the same reach takes its place`,
    async () => {
      const id = await sessionOf(user && 'max')
      const amounts = ['{"amount":1,"to":{"a":1,"b":2}}', '{"to":{"b":2,"a":1.0},"amount":1.0}', '{"amount":2,"to":{}}']
      scene.up.next(asks('', ...amounts.map((text, at) => call('pay', `c${at}`, text))))
      await scene.send(id, 'Pay!')
      const wish = { remember, remember_arguments: ['amount', 'to'] }
      await decide(id, { ...approve('c0'), ...wish })
      await decide(id, { ...reject('c1'), ...wish })
      await decide(id, { ...approve('c2'), ...wish })
      const path = user === null ? `${scene.sessions}/${id}` : `${scene.agent}/deploy/users/max`
      const { decisions } = (await scene.call('GET', `${path}/decisions`)).json
      expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual(['approve', 'reject'])
    },
  )

verifies('contract-29.remembered', 'of two that approve a call the newer one is named', async () => {
  const id = await sessionOf(null)
  scene.up.next(asks('', call('pay', 'c0', '{"amount":1}'), call('pay', 'c1', '{"amount":1}')))
  await scene.send(id, 'Pay!')
  await decide(id, { ...approve('c0'), remember: 'session', remember_arguments: ['amount'] })
  await decide(id, { ...approve('c1'), remember: 'session' })
  const [newer] = (await scene.call('GET', `${scene.sessions}/${id}/decisions`)).json.decisions
  expect(await asksPay(id, '{"amount":1}')).toBe(false)
  const { toolCalls } = (await scene.shown(id)).at(-1)
  expect([newer.arguments, toolCalls[0].decisionId]).toEqual([null, newer.id])
})

verifies('contract-29.revoked', 'a client secret that is bound to a session sees nothing of its user’s', async () => {
  const id = await sessionOf('nia')
  const bound = { user: 'nia', session_id: id }
  const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, bound)
  const secret = { authorization: `Bearer ${made.json.value}` }
  const path = `${scene.agent}/deploy/users/nia/decisions`
  expect((await scene.call('GET', path, undefined, secret)).status).toBe(403)
  expect((await scene.call('GET', `${scene.sessions}/${id}/decisions`, undefined, secret)).status).toBe(200)
})
