/** When agents are offered as tools, and what a child is told (contract section 30). */
import { afterAll, expect } from 'vitest'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says } from './tree-scene.ts'

const scene = await openTreeScene()
afterAll(scene.close)

/** A desk that asks billing, by the names of their models. */
async function newPair(deskFields: object = {}, billingFields: object = {}) {
  const name = crypto.randomUUID()
  const models = { desk: `desk ${name}`, billing: `billing ${name}` }
  const billing = await scene.newAgent(models.billing, billingFields)
  const desk = await scene.newAgent(models.desk, deskFields)
  await scene.toolsOf(desk, [{ agentId: billing, name: 'billing' }])
  return { desk, billing, models }
}
const below = async (desk: string, session: string) =>
  (await scene.call('GET', `/api/v1/agents/${desk}/deploy/sessions/${session}/children`)).json.sessions

verifies('contract-30.agent-tools', 'maxToolCalls counts their calls, and * covers them', async () => {
  const { desk, billing, models } = await newPair({ generationConfig: { maxToolCalls: 1 } })
  let told: string[] = []
  scene.plays(models.desk, asks('', asking('billing', 'One?'), asking('billing', 'Two?')), (call) => {
    told = call.body.messages.slice(-2).map(({ content }: { content: string }) => content)
    return says('Done.')(call)
  })
  scene.plays(models.billing, says('One.'))
  const { session } = await scene.ask(desk, 'Ask!')
  expect(told).toEqual(['One.', expect.stringContaining('limit of tool calls')])
  expect(await below(desk, session)).toHaveLength(1)

  await scene.toolsOf(desk, [{ agentId: billing, name: 'billing' }], { approvals: '*' })
  scene.plays(models.desk, asks('', asking('billing', 'One?')))
  const waits = await scene.ask(desk, 'Ask!')
  const { pending } = (await scene.sessionOf(desk, waits.session)).json
  expect(pending).toMatchObject([{ name: 'billing', kind: 'approval' }])
  expect(pending[0].path).toBeUndefined()
  expect(await below(desk, waits.session)).toEqual([])
})

verifies('contract-30.child', 'it has the values that its parent was admitted with, and an id of its own', async () => {
  const prompt = '{{session.id}} {{session.user}} {{session.metadata.plan}}'
  const { desk, billing, models } = await newPair({}, { systemPrompt: prompt })
  let session = ''
  scene.plays(models.desk, async (call) => {
    const { status } = await scene.call('PATCH', `/api/v1/agents/${desk}/deploy/sessions/${session}`, {
      metadata: { plan: 'late' },
    })
    expect(status).toBe(200)
    await asks('', asking('billing', 'Plan?'))(call)
  })
  scene.plays(models.desk, says('Done.'))
  let system = ''
  scene.plays(models.billing, (call) => {
    system = call.body.messages[0].content
    return says('Gold.')(call)
  })
  const sessions = `/api/v1/agents/${desk}/deploy/sessions`
  session = (await scene.call('POST', sessions, { user: 'ann', metadata: { plan: 'gold' } })).json.id
  await scene.call('POST', `${sessions}/${session}/chat/completions`, {
    messages: [{ role: 'user', content: 'Plan?' }],
  })
  const [child] = await below(desk, session)
  expect(system).toBe(`${child.id} ann gold`)
  expect(child).toMatchObject({ agent_id: billing, user: 'ann', metadata: { plan: 'gold' } })
})

verifies('contract-30.child', 'the result is the text of all replies that continue each other', async () => {
  const { desk, billing, models } = await newPair()
  await scene.toolsOf(billing, [], { builtInToolIds: ['current_time'], approvals: ['current_time'] })
  scene.plays(models.desk, asks('', asking('billing', 'Time?')), (call) =>
    says(call.body.messages.at(-1).content)(call),
  )
  scene.plays(models.billing, asks('Let me see. ', { name: 'current_time', arguments: '{}' }), says('Noon.'))
  const { session } = await scene.ask(desk, 'Time?')
  const [{ call_id }] = (await scene.sessionOf(desk, session)).json.pending
  const { json } = await scene.call('POST', `/api/v1/agents/${desk}/deploy/sessions/${session}/actions`, {
    decisions: [{ call_id, decision: 'approve' }],
  })
  expect(json.choices[0].message.content).toBe('Let me see. Noon.')
})

verifies('contract-30.ways', 'a pin that makes a way of four calls offers none at the third', async () => {
  const names = ['A', 'B', 'C', 'D', 'E'].map((name) => `${name} ${crypto.randomUUID()}`)
  const ids = await Promise.all(names.map((name) => scene.newAgent(name)))
  const [a = '', b = '', c = '', d = '', e = ''] = ids
  const tool = (agentId: string) => [{ agentId, name: 'next' }]
  // The way of the pinned version is A, B; that of the others is B, C, D, E.
  await scene.toolsOf(a, tool(b))
  const { json: pinned } = await scene.call('GET', `/api/v1/agents/${a}/versions`)
  await scene.toolsOf(a, [])
  for (const [from, to] of [
    [d, e],
    [c, d],
    [b, c],
  ] as const)
    expect((await scene.toolsOf(from, tool(to))).status).toBe(200)
  const sessions = `/api/v1/agents/${a}/deploy/sessions`
  const made = await scene.call('POST', sessions, { agent_version: pinned.versions[0].number })
  expect(made.status, made.text).toBe(201)
  for (const name of names.slice(0, 3)) scene.plays(name, asks('', asking('next', 'Next?')), says('Told.'))
  let offered: unknown = null
  scene.plays(names[3] ?? '', (call) => {
    offered = call.body.tools
    return says('Here it ends.')(call)
  })
  await scene.call('POST', `${sessions}/${made.json.id}/chat/completions`, {
    messages: [{ role: 'user', content: 'Go!' }],
  })
  expect((await below(a, made.json.id)).map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual([b, c, d])
  expect(offered).toBeUndefined()
})

verifies('contract-30.agent-tools', 'a request of the playground may bring them', async () => {
  const { desk, billing, models } = await newPair()
  await scene.toolsOf(desk, [])
  const chat = `/api/v1/agents/${desk}/playground/chat`
  const unknown = await scene.call('POST', chat, { message: 'x', agentTools: [{ agentId: crypto.randomUUID() }] })
  expect([unknown.status, unknown.json.message]).toEqual([400, expect.stringContaining('agentTools')])
  scene.plays(models.desk, asks('', asking('pay', 'Ann?')), says('Done.'))
  scene.plays(models.billing, says('12'))
  const stream = await openSse(`${scene.app.url}${chat}`, {
    message: 'Ann?',
    agentTools: [{ agentId: billing, name: 'pay' }],
  })
  const frames = []
  for (let frame = await stream.next(); frame !== null; frame = await stream.next()) frames.push(frame)
  const called = frames.find(({ event }) => event === 'tool_call')
  const data = JSON.parse(called?.data ?? '{}')
  expect(data).toMatchObject({ name: 'pay', child: { agentId: billing } })
  const listed = await scene.call('GET', `/api/v1/agents/${billing}/playground/sessions`)
  expect(listed.json.sessions).toMatchObject([{ id: data.child.sessionId, parent: { agentId: desk } }])
})

verifies('contract-30.child', 'a replay answers from the record, and starts no child', async () => {
  const { desk, models } = await newPair()
  scene.plays(models.desk, asks('', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays(models.billing, says('12'))
  const { session } = await scene.ask(desk, 'Ann?')
  const [, reply] = await scene.messagesOf(desk, session)
  const count = async () => (await scene.app.sql`select 1 from sessions where parent is not null`).length
  const before = await count()
  scene.plays(models.desk, asks('', asking('billing', 'Ann?')), (call) => says(call.body.messages.at(-1).content)(call))
  const all = `/api/v1/agents/${desk}/replays`
  const made = await scene.call('POST', all, { version: 2, replies: [reply.id] })
  expect(made.status, made.text).toBe(202)
  const read = async () => (await scene.call('GET', `${all}/${made.json.id}`)).json
  await expect.poll(async () => (await read()).status).toBe('complete')
  expect((await read()).cases[0]).toMatchObject({ status: 'complete', new: { content: expect.stringContaining('12') } })
  expect(await count()).toBe(before)
})
