/** Decisions that last, and conditions: contract section 29 over real sockets. */
import { afterAll, expect } from 'vitest'
import { forgetOldDecisions } from '../../../../src/features/approvals/store/remembered/remembered.ts'
import { verifies } from '../../../verifies.ts'
import { openRememberingScene } from './remembering-scene.ts'
import { approve, callsOfWaitingTest, reject, respond } from './waiting-scene.ts'

const { scene, sessionOf, asksPay, decide } = await openRememberingScene({ settings: {} })
afterAll(scene.close)
callsOfWaitingTest(scene)

const paid = () => scene.tools.requests.map(({ body }) => body)
const tools = async () => (await scene.call('GET', `${scene.agent}/tools`)).json
const payTool = async (): Promise<string> => (await tools()).httpToolIds[0]

const lastCall = async (id: string) =>
  (await scene.shown(id)).flatMap(({ toolCalls = [] }: { toolCalls?: object[] }) => toolCalls).at(-1)

verifies(
  'contract-29.remembered',
  'for a session: later calls of the tool are made at once, and say by what',
  async () => {
    const [id, other] = [await sessionOf(null), await sessionOf(null)]
    expect(await asksPay(id, '{"amount":1}')).toBe(true)
    expect((await decide(id, { ...approve('c1'), remember: 'session' })).status).toBe(200)
    expect(await asksPay(id, '{"amount":2}')).toBe(false)
    expect(paid()).toHaveLength(2)
    const { decisions } = (await scene.call('GET', `${scene.sessions}/${id}/decisions`)).json
    expect(decisions).toEqual([
      {
        id: expect.any(String),
        remember: 'session',
        decision: 'approve',
        name: 'pay',
        arguments: null,
        reason: null,
        created_at: expect.any(String),
      },
    ])
    expect(await lastCall(id)).toMatchObject({
      decisionId: decisions[0].id,
      decision: 'approve',
      decidedBy: null,
      ok: true,
    })
    expect(await asksPay(other, '{"amount":2}')).toBe(true)
  },
)

verifies('contract-29.remembered', 'for a user with these arguments, by their exact values', async () => {
  const [id, later, others] = [await sessionOf('ann'), await sessionOf('ann'), await sessionOf('bob')]
  await asksPay(id, '{"amount":1,"to":{"a":1,"b":2}}')
  const wish = { remember: 'user', remember_arguments: ['amount', 'to'] }
  expect((await decide(id, { ...approve('c1'), ...wish })).status).toBe(200)
  expect(await asksPay(later, '{"to":{"b":2.0,"a":1},"amount":1.0,"note":"x"}')).toBe(false)
  expect(await asksPay(later, '{"amount":1.0000000000000000001,"to":{"a":1,"b":2}}')).toBe(true)
  expect(await asksPay(await sessionOf('ann'), '{"amount":1,"amount":1,"to":{"a":1,"b":2}}')).toBe(true)
  expect(await asksPay(others, '{"amount":1,"to":{"a":1,"b":2}}')).toBe(true)
})

verifies(
  'contract-29.remembered',
  'a rejection wins, the model is told its reason, and the same reach is replaced',
  async () => {
    const id = await sessionOf('cid')
    await asksPay(id, '{"amount":1}')
    await decide(id, { ...reject('c1', 'Never.'), remember: 'session', remember_arguments: ['amount'] })
    await asksPay(id, '{"amount":2}')
    await decide(id, { ...approve('c1'), remember: 'session' })
    scene.tools.requests.length = 0
    expect(await asksPay(id, '{"amount":1}')).toBe(false)
    expect(paid()).toEqual([])
    expect(await lastCall(id)).toMatchObject({
      decision: 'reject',
      ok: false,
      content: expect.stringContaining('Never.'),
    })
    expect(await asksPay(id, '{"amount":3}')).toBe(false)
    const list = async () => (await scene.call('GET', `${scene.sessions}/${id}/decisions`)).json.decisions
    expect((await list()).map(({ decision }: { decision: string }) => decision)).toEqual(['approve', 'reject'])
  },
)

verifies('contract-29.revoked', 'a revoked decision covers nothing more, and its calls stay as they are', async () => {
  const id = await sessionOf('dan')
  await asksPay(id, '{"amount":1}')
  await decide(id, { ...approve('c1'), remember: 'user' })
  expect(await asksPay(id, '{"amount":2}')).toBe(false)
  const path = `${scene.agent}/deploy/users/dan/decisions`
  const [known] = (await scene.call('GET', path)).json.decisions
  const managed = (await scene.call('GET', `${scene.agent}/users/dan/decisions`)).json.decisions
  expect(managed).toMatchObject([{ id: known.id, decidedBy: null, tool: { httpToolId: await payTool() } }])
  expect((await scene.call('DELETE', `${scene.agent}/deploy/users/eve/decisions/${known.id}`)).status).toBe(404)
  expect((await scene.call('DELETE', `${path}/${known.id}`)).status).toBe(204)
  expect((await scene.call('DELETE', `${path}/${known.id}`)).status).toBe(404)
  expect(await lastCall(id)).toMatchObject({ decisionId: known.id, decision: 'approve' })
  expect(await asksPay(id, '{"amount":3}')).toBe(true)
  const { entries } = (await scene.call('GET', '/api/v1/audit?kind=decision')).json
  expect(entries[0]).toMatchObject({ action: 'revoke', recordId: known.id })
})

verifies(
  'contract-29.remembered',
  'what is remembered goes with its user, and when the tool moves to another origin',
  async () => {
    const id = await sessionOf('fay')
    await asksPay(id, '{"amount":1}')
    await decide(id, { ...approve('c1'), remember: 'session' })
    const url = (await scene.call('GET', `/api/v1/http-tools/${await payTool()}`)).json.url
    const toolId = await payTool()
    const move = (to: string) => scene.call('PUT', `/api/v1/http-tools/${toolId}`, { url: to })
    await move(`${url}?same=origin`)
    expect(await asksPay(id, '{"amount":2}')).toBe(false)
    await move('http://elsewhere.example/pay')
    await move(url)
    expect(await asksPay(id, '{"amount":3}')).toBe(true)
    await decide(id, { ...approve('c1'), remember: 'user' })
    await scene.call('DELETE', `${scene.agent}/deploy/users/fay`)
    expect((await scene.call('GET', `${scene.agent}/deploy/users/fay/decisions`)).json.decisions).toEqual([])
  },
)

verifies('contract-29.remember-refused', 'a wish that cannot be is 400, and nothing is decided', async () => {
  const id = await sessionOf(null)
  await asksPay(id, '{"amount":1}')
  const wrong = [
    { ...respond('c1', 'x'), remember: 'session' },
    { ...approve('c1', { amount: 9 }), remember: 'session' },
    { ...approve('c1'), remember: 'user' },
    { ...approve('c1'), remember: 'ever' },
    { ...approve('c1'), remember_arguments: ['amount'] },
    { ...approve('c1'), remember: 'session', remember_arguments: ['sum'] },
    { ...approve('c1'), remember: 'session', remember_arguments: [] },
    { ...approve('c1'), remember: 'session', remember_arguments: ['amount', 'amount'] },
  ]
  for (const decision of wrong) {
    const answer = await scene.decide(id, [decision])
    expect([decision, answer.status]).toEqual([decision, 400])
    expect(answer.json.error.message).toContain('remember')
  }
  expect((await scene.session(id)).pending).toHaveLength(1)
  expect((await decide(id, { ...approve('c1'), remember: null })).status).toBe(200)
  expect((await scene.call('GET', `${scene.sessions}/${id}/decisions`)).json.decisions).toEqual([])
})

verifies('contract-29.remember-refused', 'a client secret remembers what every asking element allows', async () => {
  const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'gus' })
  const secret = { authorization: `Bearer ${made.json.value}` }
  const id = await sessionOf('gus')
  const httpToolId = await payTool()
  await asksPay(id, '{"amount":1}')
  expect((await scene.decide(id, [{ ...approve('c1'), remember: 'session' }], {}, secret)).status).toBe(403)
  await scene.choose({ approvals: [{ httpToolId, mayRemember: 'session' }] })
  expect((await scene.decide(id, [{ ...approve('c1'), remember: 'user' }], {}, secret)).status).toBe(403)
  expect((await decide(id, { ...approve('c1'), remember: 'session' }, secret)).status).toBe(200)
  expect(await asksPay(id, '{"amount":2}')).toBe(false)
  await scene.choose({ approvals: ['pay'] })
  expect(await asksPay(id, '{"amount":3}')).toBe(true)
  const of = (user: string) => scene.call('GET', `${scene.agent}/deploy/users/${user}/decisions`, undefined, secret)
  expect([(await of('gus')).status, (await of('ann')).status]).toEqual([200, 403])
})

verifies('contract-29.when', 'asks for calls that match, or cannot be judged', async () => {
  const httpToolId = await payTool()
  const when = { type: 'object', properties: { amount: { minimum: 50 } }, required: ['amount'] }
  await scene.choose({ approvals: [{ httpToolId, when }] })
  const waits = async (args: string) => asksPay(await sessionOf(null), args)
  expect(await waits('{"amount":49}')).toBe(false)
  expect(await waits('{"amount":50}')).toBe(true)
  expect(await waits('')).toBe(false)
  expect(await waits('{"amount":1,"amount":1}')).toBe(true)
  expect(await waits('{"a":{"x":1,"\\u0078":2},"amount":1}')).toBe(true)
  expect(await waits('[1]')).toBe(true)
  expect(await waits('{"amount"')).toBe(true)
  await scene.choose({
    approvals: [
      { httpToolId, when },
      { httpToolId, when: { properties: { amount: { const: 7 } } } },
    ],
  })
  expect(await waits('{"amount":7}')).toBe(true)
  expect(await waits('{"amount":8}')).toBe(false)
})

verifies('contract-29.when-saved', 'is a schema of an object, and stands as it was saved', async () => {
  const httpToolId = await payTool()
  const put = (approvals: unknown[]) => scene.call('PUT', `${scene.agent}/tools`, { approvals })
  for (const when of [{ type: 'string' }, { properties: { a: { pattern: '(' } } }, 'x', { type: 'objekt' }]) {
    const answer = await put([{ httpToolId, when }])
    expect([when, answer.status]).toEqual([when, 400])
    expect(answer.json.message).toContain('approvals.0.when')
  }
  expect((await put([{ httpToolId, mayRemember: 'ever' }])).status).toBe(400)
  expect((await put([{ httpToolId, other: 1 }])).status).toBe(400)
  const draft = { approvals: [{ httpToolId, when: { type: 'objekt' } }] }
  const drafted = await scene.call('PUT', `${scene.agent}/tools?draft=true`, draft)
  expect([drafted.status, drafted.json.message]).toEqual([400, expect.stringContaining('approvals.0.when')])
  const saved = { httpToolId, when: { properties: { amount: { minimum: 1 } } }, mayRemember: 'user' }
  expect((await put([saved, { httpToolId, when: null, mayRemember: null }])).json.approvals).toEqual([
    saved,
    { httpToolId },
  ])
  const exported = (await scene.call('GET', '/api/v1/export')).json
  const { httpToolId: _, ...more } = saved
  expect(exported.agentTools[0].approvals).toEqual([{ httpTool: 'pay', ...more }, { httpTool: 'pay' }])
  await put([])
  await scene.call('POST', '/api/v1/import', { version: 1, agentTools: exported.agentTools })
  expect((await tools()).approvals).toEqual([saved, { httpToolId }])
})

verifies('contract-29.remembered-exported', 'in a session’s line, and in one more at the end', async () => {
  const exported = async (user: string) =>
    (await scene.call('GET', `${scene.agent}/deploy/users/${user}/export`)).text
      .trimEnd()
      .split('\n')
      .map((line: string) => JSON.parse(line))
  const id = await sessionOf('hal')
  expect((await exported('hal')).map(Object.keys)).toEqual([expect.not.arrayContaining(['decisions'])])
  await asksPay(id, '{"amount":1}')
  await decide(id, { ...approve('c1'), remember: 'session', remember_arguments: ['amount'] })
  await asksPay(id, '{"amount":2}')
  await decide(id, { ...approve('c1'), remember: 'user' })
  const of = async (path: string) => (await scene.call('GET', path)).json
  const lines = await exported('hal')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatchObject({ id, ...(await of(`${scene.sessions}/${id}/decisions`)) })
  expect(lines[0].decisions).toHaveLength(1)
  expect(lines[1]).toEqual(await of(`${scene.agent}/deploy/users/hal/decisions`))
  expect(lines[1].decisions).toHaveLength(1)
})

verifies('contract-29.remembered-retention', 'a user with a session keeps them, and recent ones stay', async () => {
  const { sql } = scene.app
  await sessionOf('ida')
  await sql`
    insert into remembered_decisions (id, agent_id, end_user, tool, name, decision, reach, by_secret, created_at)
    select gen_random_uuid(), ${scene.agentId}, who, 'built-in:x', 'x', 'approve', sha256(days::text::bytea), false,
           clock_timestamp() - make_interval(days => days)
      from unnest(array['ida', 'jon']) who, unnest(array[6, 8]) days`
  await forgetOldDecisions(sql, 7)
  const left = await sql`
    select end_user, count(*)::int as n from remembered_decisions where end_user in ('ida', 'jon') group by 1 order by 1`
  expect([...left]).toEqual([
    { end_user: 'ida', n: 2 },
    { end_user: 'jon', n: 1 },
  ])
})
