/** A child is there with its call: the transaction that stores the call, or its begin, makes it (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
beforeAll(async () => {
  scene = await openTreeScene({ settings: {} })
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  // Whatever comes behind the statement that stores the call makes no child.
  await scene.app.sql`alter function open_child(jsonb, text, text) rename to open_child_there`
  await scene.app.sql`
    create function open_child(p_call jsonb, p_text text, p_input text) returns text language sql as $$
      select case when p_call ? 'along' then open_child_there(p_call, p_text, p_input)
                  when exists (select from children c where c.session_id = (p_call ->> 'session_id')::uuid) then 'open'
                  else 'no_agent' end
    $$`
})
afterAll(() => scene?.close()) // its database goes with it

const toolMessages = (body: { messages: { role: string; content: string }[] }) =>
  body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)

verifies('contract-30.child-once', 'it is stored with the call, and those that cannot be are told why', async () => {
  await scene.toolsOf(desk, [{ agentId: billing }])
  scene.plays(
    'desk',
    asks(
      '',
      asking('billing', 'Add!'),
      asking('billing', ' '),
      asking('billing', 'A\u0000B'),
      { name: 'billing', arguments: '{"message":"Add!","more":1}' },
      { name: 'billing', arguments: 'Add!' },
    ),
  )
  scene.plays('billing', says('2.'))
  let told: string[] = []
  scene.plays('desk', (call) => {
    told = toolMessages(call.body)
    return says('Two.')(call)
  })
  const { reply, session } = await scene.ask(desk, 'Sum?')
  expect(reply.json.choices[0].message.content).toBe('Two.')
  expect(told[0]).toBe('2.')
  expect(told.slice(1).every((text) => /not called|not asked|failed/.test(text))).toBe(true)
  const { sessions } = (await scene.call('GET', `/api/v1/agents/${desk}/deploy/sessions/${session}/children`)).json
  expect(sessions.length).toBe(1)
})

verifies('contract-30.child-once', 'for a call that waited for an approval it is stored with its begin', async () => {
  await scene.toolsOf(desk, [{ agentId: billing }], { approvals: [{ agentId: billing }] })
  scene.plays('desk', asks('', asking('billing', 'Add!')))
  const { session } = await scene.ask(desk, 'Sum?')
  const below = async () =>
    (await scene.call('GET', `/api/v1/agents/${desk}/deploy/sessions/${session}/children`)).json.sessions
  expect(await below()).toEqual([])
  const [{ call_id }] = (await scene.sessionOf(desk, session)).json.pending
  scene.plays('billing', (call) => says(call.body.messages.at(-1).content)(call))
  scene.plays('desk', (call) => says(toolMessages(call.body).join())(call))
  const decisions = [{ call_id, decision: 'approve', arguments: { message: 'Add these!' } }]
  const { json } = await scene.call('POST', `/api/v1/agents/${desk}/deploy/sessions/${session}/actions`, { decisions })
  expect(json.choices[0].message.content).toContain('Add these!')
  expect((await below()).length).toBe(1)
})
