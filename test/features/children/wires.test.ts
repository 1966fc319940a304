/** Questions of sessions below, on the surfaces of front ends: at their parent's own call (contract section 30). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { refusedBySdk, rest, uiScene, type WirePart } from '../../http/ui-scene.ts'
import { startAskingServer } from '../../support/network/asking-server.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let ui: ReturnType<typeof uiScene>
let desk: string
let billing: string
let ledger: string
const server = await startAskingServer()
beforeAll(async () => {
  scene = await openTreeScene()
  const mcpServerId = await scene.createMcpServer({ name: 'asks', url: server.url })
  ledger = await scene.newAgent('ledger')
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  ui = uiScene({ app: scene.app, agent: `/api/v1/agents/${desk}`, call: scene.call })
  // What it offers is known from here on, however slow the machine is.
  await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
  const agentTools = [{ agentId: ledger }]
  await scene.toolsOf(ledger, [], { mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
  await scene.toolsOf(billing, agentTools, { builtInToolIds: ['current_time'], approvals: ['current_time'] })
  await scene.toolsOf(desk, [{ agentId: billing }])
})
afterAll(async () => {
  await scene?.close()
  await server[Symbol.asyncDispose]()
})

const time = { name: 'current_time', arguments: '{}' }
const form = { name: 'asks__form', arguments: '{}' }

/** The desk asks billing, whose calls wait: some for approvals, and some for what the ledger asks. */
function plays(...calls: { name: string; arguments: string }[]) {
  scene.plays('desk', asks('Well. ', { ...asking('billing', 'Add!'), id: 'c1' }))
  scene.plays('billing', asks('', ...calls))
  scene.plays('ledger', asks('', form))
}
const goesOn = () => {
  scene.plays('ledger', says('Four.'))
  scene.plays('billing', says('2.'))
  scene.plays('desk', says('It is 2.'))
}
const pendingOf = async (id: string) => (await scene.sessionOf(desk, id)).json.pending
const types = (parts: readonly WirePart[]) => parts.map(({ type }) => type)
/** Sends the stored messages with the part of the desk's own call as the page leaves it. */
async function answer(id: string, change: object, extra: object = {}) {
  const [user, asked] = await ui.uiMessages(id)
  const parts = asked.parts.map((part: { toolCallId?: string }) =>
    part.toolCallId === 'c1' ? { ...part, ...change } : part,
  )
  return await ui.chat(id, '', { messages: [user, { ...asked, parts }], ...extra })
}

verifies(
  'contract-30.child-wires',
  'the AI SDK is asked for one approval at the own call, for all below it',
  async () => {
    const id = randomUUID()
    plays(time, time)
    const parts = await rest(await ui.chat(id, 'Sum?'))
    expect(await refusedBySdk(parts)).toEqual([])
    const pending = await pendingOf(id)
    expect(pending).toMatchObject([{ path: [{ call_id: 'c1' }] }, { path: [{ call_id: 'c1' }] }])
    const shown = pending.map((data: { call_id: string }) => ({ type: 'data-pending', id: data.call_id, data }))
    const request = { type: 'tool-approval-request', approvalId: 'c1', toolCallId: 'c1' }
    expect(parts.slice(-6)).toEqual([...shown, request, { type: 'finish-step' }, expect.anything(), { type: '[DONE]' }])
    expect(types(parts)).not.toContain('tool-output-error')
    const [, asked] = await ui.uiMessages(id)
    expect(asked.parts.find(({ toolCallId }: { toolCallId?: string }) => toolCallId === 'c1')).toMatchObject({
      state: 'approval-requested',
      approval: { id: 'c1' },
    })
    expect(asked.parts.filter(({ type }: WirePart) => type === 'data-pending')).toEqual(shown)
    const followed = await rest(await openSse(`${scene.app.url}${ui.aiSdk}/${id}/stream?message_id=${asked.id}`))
    expect(followed).toEqual(parts)

    const approved = { state: 'approval-responded', approval: { id: 'c1', approved: true } }
    expect((await answer(id, approved, { remember: 'session' })).status).toBe(400)
    expect(await pendingOf(id)).toEqual(pending)
    goesOn()
    const more = await rest(await answer(id, approved))
    expect(more.find(({ type }) => type === 'tool-output-available')).toMatchObject({ toolCallId: 'c1', output: '2.' })
    const [, done] = await ui.uiMessages(id)
    expect(types(done.parts)).not.toContain('data-pending')
    expect(done.parts.at(-1)).toMatchObject({ type: 'text', text: 'It is 2.' })
  },
)

verifies('contract-30.child-wires', 'other entries are answered by an output, a list with call_id', async () => {
  const id = randomUUID()
  plays(time, asking('ledger', 'Who?'))
  const parts = await rest(await ui.chat(id, 'Sum?'))
  expect(types(parts)).not.toContain('tool-approval-request')
  const [approval, question] = await pendingOf(id)
  expect([approval.kind, question.kind, question.path.length]).toEqual(['approval', 'input', 2])
  expect(parts.filter(({ type }) => type === 'data-pending').map((part) => part.data)).toEqual([approval, question])
  const output = [
    { call_id: approval.call_id, decision: 'reject', reason: 'Not now.' },
    { call_id: question.call_id, decision: 'answer', content: { age: 4 } },
  ]
  const given = (list: unknown) => answer(id, { state: 'output-available', output: list })
  const refused = [
    output.slice(1), // the other waits, too
    [{ decision: 'reject' }, output[1]],
    [{ ...output[0], call_id: 'c1' }, output[1]],
    [{ ...output[0], decision: 'respond' }, output[1]],
  ]
  for (const list of refused) expect((await given(list)).status).toBe(400)
  const approved = { state: 'approval-responded', approval: { id: 'c1', approved: true } }
  expect((await answer(id, approved)).status).toBe(400)
  goesOn()
  const more = await rest(await given(output))
  expect(more.find(({ type }) => type === 'tool-output-available')).toMatchObject({ toolCallId: 'c1', output: '2.' })
  expect(server.calls.at(-1)?.responses).toEqual({ who: { action: 'accept', content: { age: 4 } } })
})

verifies('contract-30.child-wires', 'AG-UI has an interrupt for each entry, with the parent’s own call', async () => {
  const id = randomUUID()
  plays(time, asking('ledger', 'Who?'))
  const events = await rest(await ui.run(id, 'r1', 'Sum?'))
  const [approval, question] = await pendingOf(id)
  expect(Object(events.at(-1)?.outcome)).toEqual({
    type: 'interrupt',
    interrupts: [
      {
        ...{ id: approval.call_id, reason: 'tool_approval', toolCallId: 'c1', message: 'May current_time be called?' },
        responseSchema: expect.objectContaining({ required: ['approved'] }),
      },
      {
        ...{ id: question.call_id, reason: 'input_required', toolCallId: 'c1', message: 'Who is it?' },
        ...{ responseSchema: question.schema, metadata: { server: 'asks', key: 'who' } },
      },
    ],
  })
  expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toBeUndefined()
  goesOn()
  const resume = [
    { interruptId: approval.call_id, status: 'resolved', payload: { approved: true } },
    { interruptId: question.call_id, status: 'cancelled' },
  ]
  const more = await rest(await ui.run(id, 'r2', '', { messages: [], resume }))
  expect(more.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ toolCallId: 'c1', content: '2.' })
  expect(server.calls.at(-1)?.responses).toEqual({ who: { action: 'cancel' } })
})
