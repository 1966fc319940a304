/** A child that waits for a decision makes the sessions above it wait (contract section 30). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
let ledger: string
beforeAll(async () => {
  scene = await openTreeScene()
  ledger = await scene.newAgent('ledger')
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(ledger, [], { builtInToolIds: ['current_time'], approvals: ['*'] })
  await scene.toolsOf(billing, [{ agentId: ledger }], { builtInToolIds: ['current_time'], approvals: ['current_time'] })
  const { status, text } = await scene.toolsOf(desk, [{ agentId: billing }, { agentId: ledger }])
  if (status !== 200) throw new Error(text)
})
afterAll(() => scene.close())

const sum = { name: 'current_time', arguments: '{}' }
const below = async (session: string) =>
  (await scene.call('GET', `/api/v1/agents/${desk}/deploy/sessions/${session}/children`)).json.sessions
const decide = (agentId: string, session: string, decisions: object[]) =>
  scene.call('POST', `/api/v1/agents/${agentId}/deploy/sessions/${session}/actions`, { decisions })
const sessionPending = async (session: string) => (await scene.sessionOf(desk, session)).json.pending
const statusOf = async (session: string) =>
  (await scene.app.sql<{ status: string }[]>`select status from sessions where id = ${session}`)[0]?.status

/** The desk asks billing, which waits for an approval. */
async function waiting() {
  scene.plays('desk', asks('', asking('billing', 'Add!')))
  scene.plays('billing', asks('', sum))
  const { session, reply, path } = await scene.ask(desk, 'Sum?')
  const { json } = await scene.sessionOf(desk, session)
  const [child] = await below(session)
  return { session, reply, path, record: json, child }
}

verifies('contract-30.child-waits', 'its parent waits too, with the child’s call and the way to it', async () => {
  const { session, reply, record, child } = await waiting()
  expect([reply.status, reply.json.choices[0].finish_reason]).toEqual([200, 'stop'])
  const [, asked] = await scene.messagesOf(desk, session)
  expect(child.parent.message_id).toBe(asked.id)
  const path = [{ agent_id: billing, session_id: child.id, call_id: child.parent.call_id }]
  expect(child.pending).toMatchObject([{ name: 'current_time', kind: 'approval' }])
  expect(child.pending[0].path).toBeUndefined()
  expect(child.pending[0].call_id).toMatch(/^call_[0-9a-f]{32}$/)
  expect([await statusOf(session), record.pending]).toEqual(['waiting', [{ ...child.pending[0], path }]])
})

verifies('contract-30.child-decided', 'decided from above, the reply that follows there has the result', async () => {
  const { session, record, child } = await waiting()
  scene.plays('billing', says('2.'))
  let told: unknown
  scene.plays('desk', (call) => {
    told = call.body.messages.at(-1)
    return says('It is 2.')(call)
  })
  const { status, json } = await decide(desk, session, [{ call_id: record.pending[0].call_id, decision: 'approve' }])
  expect([status, json.choices?.[0].message.content]).toEqual([200, 'It is 2.'])
  expect(told).toMatchObject({ role: 'tool', content: '2.' })
  expect([await statusOf(session), await statusOf(child.id)]).toEqual(['complete', 'complete'])
  const again = await decide(desk, session, [{ call_id: record.pending[0].call_id, decision: 'approve' }])
  expect(again.status).toBe(409)
  expect((await below(session)).length).toBe(1)
})

test('the Responses API decides nothing of a session below (contract section 29)', async () => {
  const { session, record } = await waiting()
  const input = [{ type: 'mcp_approval_response', approval_request_id: record.pending[0].call_id, approve: true }]
  const refused = await scene.call('POST', `/api/v1/agents/${desk}/deploy/responses`, { conversation: session, input })
  expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
  expect(refused.json.error.message).toContain('…/actions')
  expect((await scene.sessionOf(desk, session)).json.pending).toEqual(record.pending)
})

verifies('contract-30.child-decided', 'decided at the child, its parent follows by itself', async () => {
  const { session, record, child } = await waiting()
  scene.plays('billing', says('2.'))
  scene.plays('desk', says('It is 2.'))
  const { status } = await decide(billing, child.id, [{ call_id: record.pending[0].call_id, decision: 'approve' }])
  expect(status).toBe(200)
  await expect.poll(() => statusOf(session)).toBe('complete')
  expect((await scene.messagesOf(desk, session)).at(-1)).toMatchObject({ content: 'It is 2.', status: 'complete' })
})

verifies(
  'contract-30.child-decided',
  'a part at the parent is 200 with its record; a child decided alone keeps its result',
  async () => {
    scene.plays('desk', asks('', asking('billing', 'Add!'), asking('ledger', 'Add too!')))
    scene.plays('billing', asks('', sum))
    scene.plays('ledger', asks('', sum))
    const { session } = await scene.ask(desk, 'Sums?')
    const { pending } = (await scene.sessionOf(desk, session)).json
    expect(pending.map(({ path }: { path: { agent_id: string }[] }) => path[0]?.agent_id)).toEqual([billing, ledger])
    scene.plays('billing', says('Two.'))
    const part = await decide(desk, session, [{ call_id: pending[0].call_id, decision: 'approve' }])
    expect([part.status, part.json.pending]).toEqual([200, [pending[1]]])
    const late = await decide(desk, session, [{ call_id: pending[0].call_id, decision: 'reject' }])
    expect([late.status, late.headers.get('x-should-retry')]).toEqual([409, 'false'])
    const child = (await below(session)).find((one: { agent_id: string }) => one.agent_id === billing)
    await expect.poll(() => statusOf(child.id)).toBe('complete')
    expect(await statusOf(session)).toBe('waiting')
    scene.plays('ledger', says('Two too.'))
    let told: string[] = []
    scene.plays('desk', (call) => {
      told = call.body.messages.slice(-2).map(({ content }: { content: string }) => content)
      return says('Both.')(call)
    })
    const rest = await decide(desk, session, [{ call_id: pending[1].call_id, decision: 'reject' }])
    expect([rest.status, rest.json.choices?.[0].message.content]).toEqual([200, 'Both.'])
    expect(told).toEqual(['Two.', 'Two too.'])
  },
)

verifies(
  'contract-30.child-waits',
  'at the third depth it is pending in every session above, and decided from the top',
  async () => {
    scene.plays('desk', asks('', asking('billing', 'Add!')))
    scene.plays('billing', asks('', asking('ledger', 'Add!')))
    scene.plays('ledger', asks('', sum))
    const { session } = await scene.ask(desk, 'Sum?')
    const [middle, low] = await below(session)
    const { pending } = (await scene.sessionOf(desk, session)).json
    expect(pending[0].path.map((one: { session_id: string }) => one.session_id)).toEqual([middle.id, low.id])
    expect(middle.pending).toEqual([{ ...pending[0], path: pending[0].path.slice(1) }])
    scene.plays('ledger', says('2'))
    scene.plays('billing', says('It is 2.'))
    scene.plays('desk', says('Two.'))
    const { status, json } = await decide(desk, session, [{ call_id: pending[0].call_id, decision: 'approve' }])
    expect([status, json.choices?.[0].message.content]).toEqual([200, 'Two.'])
  },
)

verifies('contract-30.child-waits-ended', 'a new message in the parent rejects what its children ask', async () => {
  const { path, child } = await waiting()
  let told: string | undefined
  scene.plays('desk', (call) => {
    told = call.body.messages.at(-2).content
    return says('Never mind.')(call)
  })
  await scene.call('POST', path, { messages: [{ role: 'user', content: 'Leave it.' }] })
  expect(told).toContain('cancelled')
  expect([await statusOf(child.id), (await scene.sessionOf(billing, child.id)).json.pending]).toEqual(['cancelled', []])
  const shown = `/api/v1/agents/${billing}/playground/sessions/${child.id}/messages`
  const [, asked] = (await scene.call('GET', shown)).json.messages
  expect(asked).toMatchObject({ finishReason: 'cancelled', toolCalls: [{ decision: 'reject', ok: false }] })
})

verifies(
  'contract-30.child-waits-ended',
  'a cancelled child is told to its parent, which goes on; cancel of the parent changes nothing',
  async () => {
    const { session, path, child } = await waiting()
    expect((await scene.call('POST', `${path}/cancel`)).status).toBe(204)
    expect([await statusOf(session), await statusOf(child.id)]).toEqual(['waiting', 'waiting'])
    scene.plays('desk', (call) => says(call.body.messages.at(-1).content)(call))
    const own = `/api/v1/agents/${billing}/deploy/sessions/${child.id}/chat/completions/cancel`
    expect((await scene.call('POST', own)).status).toBe(204)
    await expect.poll(() => statusOf(session)).toBe('complete')
    expect((await scene.messagesOf(desk, session)).at(-1).content).toContain('was cancelled')
  },
)

verifies('contract-30.child-waits-ended', 'a deleted child is told to its parent, and not made anew', async () => {
  const { session, child } = await waiting()
  scene.plays('desk', (call) => says(call.body.messages.at(-1).content)(call))
  await scene.call('DELETE', `/api/v1/agents/${billing}/deploy/sessions/${child.id}`)
  await expect.poll(() => statusOf(session)).toBe('complete')
  expect((await scene.messagesOf(desk, session)).at(-1).content).toContain('was deleted')
  expect(await below(session)).toEqual([])
})

verifies('contract-30.child-paths', 'a session below answers there as on its own paths; others are 404', async () => {
  const { session, child } = await waiting()
  const deploy = `/api/v1/agents/${desk}/deploy/sessions/${session}/children/${child.id}`
  const own = `/api/v1/agents/${billing}/deploy/sessions/${child.id}`
  const read = async (path: string) => {
    const { status, json, text } = await scene.call('GET', path)
    return { status, body: json ?? text }
  }
  expect((await read(own)).status).toBe(200)
  for (const end of ['', '/messages', '/chat/completions/stream'])
    expect([end, await read(`${deploy}${end}`)]).toEqual([end, await read(`${own}${end}`)])
  const played = deploy.replace('/deploy/', '/playground/')
  for (const end of ['', '/messages', '/stream'])
    expect([end, await read(`${played}${end}`)]).toEqual([
      end,
      await read(`${own.replace('/deploy/', '/playground/')}${end}`),
    ])
  const { session: other } = await waiting()
  const foreign = deploy.replace(session, other)
  for (const end of ['', '/messages', '/chat/completions/stream'])
    expect((await read(`${foreign}${end}`)).status).toBe(404)
  expect((await scene.call('POST', `${foreign}/chat/completions/cancel`)).status).toBe(404)
  expect((await scene.call('PATCH', deploy, { title: 'x' })).status).toBe(405)
  expect((await read(`${deploy}/queue`)).status).toBe(404)
  // The parent follows by itself: its reply is over before another test plays for the same model.
  scene.plays('desk', says('Alas.'))
  expect((await scene.call('POST', `${deploy}/chat/completions/cancel`)).status).toBe(204)
  expect(await statusOf(child.id)).toBe('cancelled')
  await expect.poll(() => statusOf(session)).toBe('complete')
})

verifies(
  'contract-30.child-decided',
  'changed arguments are checked, and decisions remembered, at the child',
  async () => {
    const { session, record, child } = await waiting()
    const { call_id } = record.pending[0]
    const wrong = await decide(desk, session, [{ call_id, decision: 'approve', arguments: { timeZone: 7 } }])
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('decisions.0.arguments')])
    expect((await sessionPending(session)).length).toBe(1)
    scene.plays('billing', says('Late.'))
    scene.plays('desk', says('It is late.'))
    const changed = { timeZone: 'Europe/Berlin' }
    const { status } = await decide(desk, session, [{ call_id, decision: 'approve', arguments: changed }])
    expect(status).toBe(200)
    const played = `/api/v1/agents/${billing}/playground/sessions/${child.id}/messages`
    const [, asked] = (await scene.call('GET', played)).json.messages
    expect(asked.toolCalls[0]).toMatchObject({
      decision: 'approve',
      ok: true,
      decidedArguments: JSON.stringify(changed),
    })

    const next = await waiting()
    scene.plays('billing', says('Now.'))
    scene.plays('desk', says('It is now.'))
    const id = next.record.pending[0].call_id
    expect((await decide(desk, next.session, [{ call_id: id, decision: 'approve', remember: 'session' }])).status).toBe(
      200,
    )
    const known = await scene.call('GET', `/api/v1/agents/${billing}/deploy/sessions/${next.child.id}/decisions`)
    expect(known.json.decisions).toMatchObject([{ decision: 'approve' }])
    const top = await scene.call('GET', `/api/v1/agents/${desk}/deploy/sessions/${next.session}/decisions`)
    expect(top.json.decisions).toEqual([])
  },
)

verifies('contract-30.child-decided', 'a key of the parent’s agent alone has nothing remembered below', async () => {
  const made = await scene.call('POST', '/api/v1/keys', { name: 'Desk', scopes: ['deploy'], agentIds: [desk] })
  const headers = { authorization: `Bearer ${made.json.key}` }
  const { session, record } = await waiting()
  const actions = `/api/v1/agents/${desk}/deploy/sessions/${session}/actions`
  const decisions = [{ call_id: record.pending[0].call_id, decision: 'reject', remember: 'session' }]
  expect((await scene.call('POST', actions, { decisions }, headers)).status).toBe(403)
  expect(await sessionPending(session)).toHaveLength(1)
  scene.plays('billing', says('No.'))
  scene.plays('desk', says('No.'))
  const without = decisions.map(({ remember: _, ...one }) => one)
  expect((await scene.call('POST', actions, { decisions: without }, headers)).status).toBe(200)
  expect((await scene.call('DELETE', `/api/v1/keys/${made.json.id}`)).status).toBe(204)
})

verifies('contract-30.child-decided', 'a child that asks again is decided from above again', async () => {
  const { session, record } = await waiting()
  scene.plays('billing', asks('', sum))
  const first = await decide(desk, session, [{ call_id: record.pending[0].call_id, decision: 'approve' }])
  const [second] = await sessionPending(session)
  expect([first.status, second.name, second.path]).toEqual([200, 'current_time', record.pending[0].path])
  expect(second.call_id).not.toBe(record.pending[0].call_id)
  scene.plays('billing', says('2.'))
  scene.plays('desk', says('It is 2.'))
  const { status, json } = await decide(desk, session, [{ call_id: second.call_id, decision: 'approve' }])
  expect([status, json.choices?.[0].message.content]).toEqual([200, 'It is 2.'])
})
