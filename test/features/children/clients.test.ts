/** Official clients whose agent asks another one, which answers, or asks for an approval (contract section 30). */
import { randomUUID } from 'node:crypto'
import { buildResumeArray, HttpAgent } from '@ag-ui/client'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { sdkChat, toolParts } from '../approvals/routes/sdk-chat.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
beforeAll(async () => {
  scene = await openTreeScene()
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [], { builtInToolIds: ['current_time'], approvals: ['current_time'] })
  await scene.toolsOf(desk, [{ agentId: billing }])
})
afterAll(() => scene.close())

const deploy = () => `${scene.app.url}/api/v1/agents/${desk}/deploy`
/** Billing answers at once. */
const answers = () => {
  scene.plays('desk', asks('One moment. ', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays('billing', says('12'))
}
/** Billing asks whether it may look at the clock. */
const waits = () => {
  scene.plays('desk', asks('One moment. ', asking('billing', 'Ann?')))
  scene.plays('billing', asks('', { name: 'current_time', arguments: '{}' }))
}
const goesOn = () => {
  scene.plays('billing', says('12'))
  scene.plays('desk', says('12 euros.'))
}
const newSession = async () => (await scene.call('POST', `/api/v1/agents/${desk}/deploy/sessions`, {})).json.id
const pendingOf = async (session: string) => (await scene.sessionOf(desk, session)).json.pending
const options = { apiKey: 'any', maxRetries: 0 }
const ask = { model: 'desk', messages: [{ role: 'user' as const, content: 'Ann?' }] }

verifies('contract-30.child-wires', 'OpenAI’s client has the text, and no call', async () => {
  const at = async () => new OpenAI({ ...options, baseURL: `${deploy()}/sessions/${await newSession()}` })
  answers()
  const { choices } = await (await at()).chat.completions.create(ask)
  expect(choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'One moment. 12 euros.' } }])
  expect(choices[0]?.message.tool_calls).toBeUndefined()
  answers()
  const streamed = await (await at()).chat.completions.stream(ask).finalChatCompletion()
  expect(streamed.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'One moment. 12 euros.' } }])
  waits()
  const asked = await (await at()).chat.completions.create(ask)
  expect(asked.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'One moment. ' } }])
  expect(asked.choices[0]?.message.tool_calls).toBeUndefined()

  const client = new OpenAI({ ...options, baseURL: deploy() })
  answers()
  const response = await client.responses.create({ model: 'desk', input: 'Ann?' })
  expect([response.status, response.output_text]).toEqual(['completed', 'One moment. 12 euros.'])
  expect(response.output.map(({ type }) => type)).toEqual(['message', 'message'])
  answers()
  const last = await client.responses.stream({ model: 'desk', input: 'Ann?' }).finalResponse()
  expect(last.output_text).toBe('One moment. 12 euros.')
  waits()
  const stopped = await client.responses.create({ model: 'desk', input: 'Ann?' })
  expect([stopped.status, stopped.output.map(({ type }) => type)]).toEqual(['completed', ['message']])
})

verifies('contract-30.child-wires', 'the AI SDK’s chat names the child, and approves what it asks', async () => {
  const id = randomUUID()
  const { chat, state, next } = sdkChat(`${deploy()}/ai-sdk`, id)
  answers()
  await chat.sendMessage({ text: 'Ann?' })
  const [call] = toolParts(state.messages.at(-1))
  expect(call).toMatchObject({ toolName: 'billing', state: 'output-available', output: '12' })
  expect(call.callProviderMetadata.greenroom).toMatchObject({ agentId: billing, sessionId: expect.any(String) })
  waits()
  await chat.sendMessage({ text: 'And Bob?' })
  const [entry] = await pendingOf(id)
  const waiting = state.messages.at(-1)
  expect(waiting?.parts.filter(({ type }) => type === 'data-pending')).toMatchObject([
    { id: entry.call_id, data: entry },
  ])
  const [asked] = toolParts(waiting)
  expect(asked).toMatchObject({ state: 'approval-requested', approval: { id: asked.toolCallId } })
  goesOn()
  const over = next()
  await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true })
  await over
  expect(chat.error).toBeUndefined()
  const [done] = toolParts(state.messages.at(-1))
  expect(done).toMatchObject({ state: 'output-available', output: '12' })
  expect(state.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'text', text: '12 euros.' })
  expect(await pendingOf(id)).toEqual([])
})

verifies('contract-30.child-wires', 'AG-UI’s client sees a step, and resolves the interrupt of a child', async () => {
  const threadId = randomUUID()
  const agent = new HttpAgent({ url: `${deploy()}/ag-ui`, threadId })
  const steps: string[] = []
  agent.subscribe({
    onStepStartedEvent: ({ event }) => void steps.push(`${event.stepName} started`),
    onStepFinishedEvent: ({ event }) => void steps.push(`${event.stepName} finished`),
  })
  const run = async (resume?: ReturnType<typeof buildResumeArray>) =>
    await agent.runAgent({ runId: randomUUID(), ...(resume && { resume }) })
  answers()
  agent.addMessage({ id: 'u1', role: 'user', content: 'Ann?' })
  await run()
  const [child] = (await scene.call('GET', `/api/v1/sessions?parent=${threadId}`)).json.sessions
  expect(steps).toEqual([`child:${child.id} started`, `child:${child.id} finished`])
  expect(agent.messages.find(({ role }) => role === 'assistant')?.content).toBe('One moment. 12 euros.')
  waits()
  agent.addMessage({ id: 'u2', role: 'user', content: 'And Bob?' })
  await run()
  const [entry] = await pendingOf(threadId)
  expect(agent.pendingInterrupts).toMatchObject([{ id: entry.call_id, reason: 'tool_approval' }])
  goesOn()
  await run(
    buildResumeArray(agent.pendingInterrupts, { [entry.call_id]: { status: 'resolved', payload: { approved: true } } }),
  )
  expect(agent.pendingInterrupts).toEqual([])
  expect(agent.messages.findLast(({ role }) => role === 'assistant')?.content).toContain('12 euros.')
})
