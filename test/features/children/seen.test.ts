/** Children and their parents as the surfaces show them (contract section 30). */
import { randomUUID } from 'node:crypto'
import { EventSchemas } from '@ag-ui/core/schemas'
import { afterAll, beforeAll, expect } from 'vitest'
import { rest, uiScene } from '../../http/ui-scene.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
let ledger: string
let session: string
/** The sessions of billing and ledger. */
let child: string
let grandchild: string
beforeAll(async () => {
  scene = await openTreeScene()
  ledger = await scene.newAgent('ledger')
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [{ agentId: ledger }])
  await scene.toolsOf(desk, [{ agentId: billing }])
  scene.plays('desk', asks('', asking('billing', 'What does Ann owe?')), says('12 euros.'))
  scene.plays('billing', asks('', asking('ledger', 'Ann?')), says('12'))
  scene.plays('ledger', says('+12'))
  const asked = await scene.ask(desk, 'Ann?', { user: 'ann' })
  session = asked.session
  const { sessions } = (await scene.call('GET', `${at(desk, session)}/children`)).json
  ;[child, grandchild] = sessions.map(({ id }: { id: string }) => id)
})
afterAll(() => scene.close())

const at = (agentId: string, id: string) => `/api/v1/agents/${agentId}/deploy/sessions/${id}`
const idsAt = async (path: string) => (await scene.call('GET', path)).json.sessions.map(({ id }: { id: string }) => id)

verifies('contract-30.parent', 'a child names the call that made it, a session of its own none', async () => {
  const [, reply] = await scene.messagesOf(desk, session)
  const { parent } = (await scene.call('GET', at(billing, child))).json
  expect(parent).toEqual({ agent_id: desk, session_id: session, message_id: reply.id, call_id: expect.any(String) })
  const shown = await scene.call('GET', `/api/v1/agents/${billing}/playground/sessions/${child}`)
  const inCamelCase = { agentId: desk, sessionId: session, messageId: reply.id, callId: parent.call_id }
  expect(shown.json.parent).toEqual(inCamelCase)
  const listed = await scene.call('GET', `/api/v1/sessions?parent=${session}`)
  expect(listed.json.sessions).toMatchObject([{ id: child, parent: inCamelCase }])
  expect((await scene.call('GET', at(desk, session))).json.parent).toBeNull()
  const made = await scene.call('POST', `/api/v1/agents/${billing}/deploy/sessions`, { parent: inCamelCase })
  expect(made.status).toBe(400)
})

verifies('contract-30.parent', 'a call names its child, stored and while it runs', async () => {
  const messages = await scene.call('GET', `/api/v1/agents/${desk}/playground/sessions/${session}/messages`)
  const [call] = messages.json.messages[1].toolCalls
  expect(call).toMatchObject({ name: 'billing', child: { agentId: billing, sessionId: child } })
  const trace = await scene.call('GET', `/api/v1/debug/replies/${messages.json.messages[1].id}/trace`)
  const spans = trace.json.spans.filter(({ kind }: { kind: string }) => kind === 'tool')
  expect(spans).toMatchObject([{ name: 'billing', child: { agentId: billing, sessionId: child } }])
  const answers = await scene.call('GET', `/api/v1/agents/${ledger}/playground/sessions/${grandchild}/messages`)
  expect(answers.json.messages[1].toolCalls).toEqual([])
})

verifies('contract-30.child-lists', 'lists have children or leave them out', async () => {
  const own = `/api/v1/agents/${billing}/deploy/sessions`
  expect(await idsAt(own)).toEqual([child])
  expect(await idsAt(`${own}?children=false`)).toEqual([])
  expect((await scene.call('GET', `${own}?children=maybe`)).status).toBe(400)
  expect(await idsAt(`/api/v1/agents/${billing}/playground/sessions?children=false`)).toEqual([])
  expect(await idsAt('/api/v1/sessions')).not.toContain(child)
  expect(await idsAt('/api/v1/sessions?children=true')).toEqual(expect.arrayContaining([session, child, grandchild]))
  expect(await idsAt('/api/v1/sessions?parent=nobody')).toEqual([])
})

verifies('contract-30.child-lists', 'below a session are those of its calls, at any depth', async () => {
  const { status, json } = await scene.call('GET', `${at(desk, session)}/children?limit=1&offset=1`)
  expect([status, json]).toMatchObject([200, { sessions: [{ id: grandchild, agent_id: ledger }], total: 2, offset: 1 }])
  expect(await idsAt(`${at(billing, child)}/children`)).toEqual([grandchild])
  expect((await scene.call('GET', `${at(billing, session)}/children`)).status).toBe(404)
  const shown = await idsAt(`/api/v1/agents/${desk}/playground/sessions/${session}/children`)
  expect(shown).toEqual([child, grandchild])
})

verifies('contract-30.child-lists', "a user's export has the sessions below behind each session", async () => {
  const lines = async (agentId: string) => {
    const { text } = await scene.call('GET', `/api/v1/agents/${agentId}/deploy/users/ann/export`)
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  expect(await lines(desk)).toMatchObject([
    { id: session, agent_id: desk, parent: null },
    { id: child, agent_id: billing, parent: { session_id: session }, messages: [{}, { content: '12' }] },
    { id: grandchild, agent_id: ledger, parent: { session_id: child } },
  ])
  expect(await lines(billing)).toMatchObject([{ id: child }, { id: grandchild }])
})

const uiOfDesk = () => uiScene({ ...scene, agent: `/api/v1/agents/${desk}` })
const playOnce = () => {
  scene.plays('desk', asks('', asking('billing', 'And Bob?')), says('Nothing.'))
  scene.plays('billing', says('0'))
}
const childOf = async (parent: string) => (await idsAt(`/api/v1/sessions?parent=${parent}`))[0]

verifies('contract-30.parent', 'a call names its child in the parts of the AI SDK', async () => {
  const ui = uiOfDesk()
  playOnce()
  const chat = randomUUID()
  const parts = await rest(await ui.chat(chat, 'Bob?'))
  const greenroom = { agentId: billing, sessionId: await childOf(chat) }
  const called = parts.find(({ type }) => type === 'tool-input-available')
  expect(called).toMatchObject({ toolName: 'billing', providerMetadata: { greenroom } })
  const [, reply] = await ui.uiMessages(chat)
  expect(reply.parts).toContainEqual(expect.objectContaining({ callProviderMetadata: { greenroom } }))
})

verifies('contract-30.parent', 'a child is a step of an AG-UI run, from its call to its result', async () => {
  playOnce()
  const thread = randomUUID()
  const events = await rest(await uiOfDesk().run(thread, 'run', 'Bob?'))
  expect(events.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
  const stepName = `child:${await childOf(thread)}`
  const first = events.findIndex(({ type }) => type === 'TOOL_CALL_END')
  expect(events.slice(first, first + 4)).toMatchObject([
    { type: 'TOOL_CALL_END' },
    { type: 'STEP_STARTED', stepName },
    { type: 'STEP_FINISHED', stepName },
    { type: 'TOOL_CALL_RESULT', content: '0' },
  ])
})

verifies('contract-30.parent', 'a run that waits has finished the step of a call that waits with it', async () => {
  await scene.toolsOf(desk, [{ agentId: billing }], { approvals: [{ agentId: billing }] })
  scene.plays('desk', asks('', asking('billing', 'And Cid?')), says('Nothing.'))
  const thread = randomUUID()
  const events = await rest(await uiOfDesk().run(thread, 'run', 'Cid?'))
  expect(events.map(({ type }) => type).filter((type) => type.startsWith('STEP') || type.startsWith('RUN'))).toEqual([
    'RUN_STARTED',
    'STEP_STARTED',
    'STEP_FINISHED',
    'RUN_FINISHED',
  ])
})
