/** Questions of MCP servers on the surfaces of front ends (contract section 27). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect } from 'vitest'
import { asks, openToolScene } from '../../../http/tool-scene.ts'
import { rest, uiScene } from '../../../http/ui-scene.ts'
import { form, startAskingServer } from '../../../support/network/asking-server.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openToolScene()
const server = await startAskingServer()
afterAll(async () => {
  await scene.close()
  await server[Symbol.asyncDispose]()
})
const ui = uiScene(scene)
const mcpServerId = await scene.createMcpServer({ name: 'asks', url: server.url })
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
beforeEach(() => void server.calls.splice(0))

const asked = (tool: string) => {
  scene.up.next(asks('Well. ', { name: `asks__${tool}`, arguments: '{}', id: 'c1' }))
  scene.says(['Done.'])
}
const question = { call_id: 'c1', name: 'asks__form', arguments: '{}', kind: 'input', server: 'asks', key: 'who' }
const entry = { ...question, message: 'Who is it?', schema: form }

verifies('contract-27.question-wires', 'the AI SDK gets data-pending, and its output answers', async () => {
  const id = randomUUID()
  asked('form')
  const parts = await rest(await ui.chat(id, 'Hello'))
  const types = parts.map(({ type }) => type)
  expect(parts.find(({ type }) => type === 'data-pending')).toEqual({ type: 'data-pending', id: 'c1', data: entry })
  expect(types.indexOf('data-pending')).toBeGreaterThan(types.indexOf('tool-input-available'))
  const [user, asking] = await ui.uiMessages(id)
  expect(asking.parts).toContainEqual({ type: 'data-pending', id: 'c1', data: entry })
  const output = { decision: 'answer', content: { age: 4 } }
  const answered = (given: unknown) =>
    asking.parts.map((part: { toolCallId?: string }) =>
      part.toolCallId === 'c1' ? { ...part, state: 'output-available', output: given } : part,
    )
  const send = (given: unknown) => ui.chat(id, '', { messages: [user, { ...asking, parts: answered(given) }] })
  expect((await send({ decision: 'maybe' })).status).toBe(400)
  const more = await rest(await send(output))
  expect(more.find(({ type }) => type === 'tool-output-available')).toMatchObject({ toolCallId: 'c1' })
  expect(server.calls[1]?.responses).toEqual({ who: { action: 'accept', content: { age: 4 } } })
  const [, done] = await ui.uiMessages(id)
  expect(done.parts.map(({ type }: { type: string }) => type)).not.toContain('data-pending')
})

verifies('contract-27.question-wires', 'several questions of a call have ids with their keys', async () => {
  const id = randomUUID()
  asked('two')
  const parts = await rest(await ui.chat(id, 'Hello'))
  expect(parts.filter(({ type }) => type === 'data-pending').map((part) => part.id)).toEqual(['c1:a', 'c1:b'])
  const [user, asking] = await ui.uiMessages(id)
  const output = [
    { key: 'a', decision: 'decline' },
    { key: 'b', decision: 'answer' },
  ]
  const answered = asking.parts.map((part: { toolCallId?: string }) =>
    part.toolCallId === 'c1' ? { ...part, state: 'output-available', output } : part,
  )
  await rest(await ui.chat(id, '', { messages: [user, { ...asking, parts: answered }] }))
  expect(server.calls[1]?.responses).toEqual({ a: { action: 'decline' }, b: { action: 'accept' } })
})

verifies('contract-27.question-wires', 'AG-UI gets an interrupt, which is resolved or cancelled', async () => {
  const cases = [
    ['form', { status: 'resolved', payload: { age: 4 } }, { who: { action: 'accept', content: { age: 4 } } }],
    ['form', { status: 'cancelled' }, { who: { action: 'cancel' } }],
    ['page', { status: 'resolved' }, { pay: { action: 'accept' } }],
  ] as const
  for (const [tool, resume, responses] of cases) {
    const id = randomUUID()
    server.calls.splice(0)
    asked(tool)
    const events = await rest(await ui.run(id, 'r1', 'Hello'))
    const { interrupts } = Object(events.at(-1)?.outcome)
    const common = { id: 'c1', reason: 'input_required', toolCallId: 'c1' }
    expect(interrupts).toEqual([
      tool === 'form'
        ? { ...common, message: 'Who is it?', responseSchema: form, metadata: { server: 'asks', key: 'who' } }
        : { ...common, message: 'Pay here.', metadata: { server: 'asks', key: 'pay', url: 'https://example.com/pay' } },
    ])
    await rest(await ui.run(id, 'r2', '', { messages: [], resume: [{ interruptId: 'c1', ...resume }] }))
    expect(server.calls[1]?.responses).toEqual(responses)
  }
})

verifies('contract-27.question-wires', 'include_actions shows the call, and role tool may not decide it', async () => {
  const id = await scene.newSession()
  asked('form')
  const answer = await scene.send(id, 'Hello', { include_actions: true })
  expect(answer.json.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ id: 'c1', function: { name: 'asks__form' } }] },
  })
  const decided = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, {
    messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }],
  })
  expect([decided.status, decided.headers.get('x-should-retry')]).toEqual([409, 'false'])
})

verifies('contract-27.question-wires', 'the Responses API shows no item, and decides no question', async () => {
  asked('form')
  const path = `${scene.agent}/deploy/responses`
  const made = await scene.call('POST', path, { input: 'Hello', include_actions: true })
  expect(made.json).toMatchObject({ status: 'completed', output: [{ type: 'message' }] })
  expect(made.json.output).toHaveLength(1)
  const item = { type: 'function_call_output', call_id: 'call_1', output: 'x' }
  const decided = await scene.call('POST', path, { input: [item], previous_response_id: made.json.id })
  expect([decided.status, decided.headers.get('x-should-retry')]).toEqual([409, 'false'])
  expect(decided.json.error.message).toContain('/actions')
})
