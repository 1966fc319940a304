/** Approvals through the AI SDK and AG-UI, with the SDKs' own readers: contract section 15 over real sockets. */
import { randomUUID } from 'node:crypto'
import { EventSchemas } from '@ag-ui/core/schemas'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { refusedBySdk, rest, uiScene } from '../../../http/ui-scene.ts'
import type { SseStream } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { sdkChat, toolParts } from './sdk-chat.ts'
import { call, openWaitingScene, type WaitingScene, weather } from './waiting-scene.ts'

let scene: WaitingScene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openWaitingScene()
  ui = uiScene(scene)
})
beforeEach(async () => {
  scene.tools.requests.length = 0
  scene.up.forget()
})
afterAll(() => scene.close())

const pages = () => `${scene.app.url}${ui.aiSdk}`

/** Reads on until a frame holds the text. */
async function seen(stream: SseStream, text: string): Promise<void> {
  for (let frame = await stream.next(); frame !== null && !frame.data.includes(text); ) frame = await stream.next()
}

verifies('contract-15.ai-sdk', 'the SDK’s own approval flow decides, and sees one message', async () => {
  const id = randomUUID()
  const { chat, state, next } = sdkChat(pages(), id)
  scene.up.next(asks('Paying. ', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}')))
  await chat.sendMessage({ text: 'Pay twice!' })
  expect(state.error).toBeUndefined()
  const first = state.messages.at(-1)
  expect(toolParts(first).map((part) => [part.state, part.approval?.id])).toEqual([
    ['approval-requested', 'c1'],
    ['approval-requested', 'c2'],
  ])
  expect((await ui.uiMessages(id)).at(-1).parts).toMatchObject(JSON.parse(JSON.stringify(first?.parts)))
  scene.says('Paid once.')
  await chat.addToolApprovalResponse({ id: 'c1', approved: true })
  const over = next()
  await chat.addToolApprovalResponse({ id: 'c2', approved: false, reason: 'Too dear.' })
  await over
  expect(state.error).toBeUndefined()
  expect(state.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  const last = state.messages.at(-1)
  expect(last?.id).toBe(first?.id)
  expect(toolParts(last).map((part) => [part.state, part.approval?.approved])).toEqual([
    ['output-available', true],
    ['output-denied', false],
  ])
  expect(last?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Paid once.' })
  expect(scene.tools.requests.map(({ body }) => body)).toEqual(['{"amount":1}'])
  // Stored, it is the same message.
  const stored = (await ui.uiMessages(id)).at(-1)
  expect(stored).toMatchObject({ id: last?.id, metadata: { status: 'complete' } })
  expect(toolParts(stored).map((part) => part.state)).toEqual(['output-available', 'output-denied'])
  expect(stored.parts.at(-1)).toMatchObject({ type: 'text', text: 'Paid once.' })
})

verifies('contract-15.ai-sdk', 'the page makes calls of its own tools', async () => {
  const id = randomUUID()
  const { chat, state, next } = sdkChat(pages(), id, { tools: [weather] })
  scene.up.next(asks('', call('weather', 'w1')))
  await chat.sendMessage({ text: 'Weather?' })
  expect(toolParts(state.messages.at(-1))).toMatchObject([{ toolName: 'weather', state: 'input-available' }])
  scene.says('Sunny.')
  const over = next()
  await chat.addToolOutput({ tool: 'weather', toolCallId: 'w1', output: { sky: 'blue' } })
  await over
  expect(state.error).toBeUndefined()
  expect(state.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Sunny.' })
  const asked = scene.up.calls.at(-1)?.body.messages.at(-1)
  expect(asked).toEqual({ role: 'tool', tool_call_id: 'w1', content: '{"sky":"blue"}' })
})

verifies('contract-15.ai-sdk', 'who follows sees the parts of the whole chain behind one start', async () => {
  const id = randomUUID()
  scene.up.next(asks('Paying. ', call('pay', 'c1', '{"amount":1}')))
  const asked = await rest(await ui.chat(id, 'Pay!'))
  expect(asked.slice(-4)).toEqual([
    { type: 'tool-approval-request', approvalId: 'c1', toolCallId: 'c1' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'tool-calls' },
    { type: '[DONE]' },
  ])
  const gate = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('Paid.')
    await gate.promise
    await one.finish()
  })
  const messageId = String(asked[0]?.messageId)
  const part = { type: 'dynamic-tool', toolName: 'pay', toolCallId: 'c1', state: 'approval-responded', input: {} }
  const decided = [{ id: messageId, role: 'assistant', parts: [{ ...part, approval: { id: 'c1', approved: true } }] }]
  const stream = await ui.chat(id, '', { messages: decided })
  await seen(stream, 'Paid.')
  const follower = await ui.follow(id)
  await seen(follower, 'Paid.')
  gate.resolve()
  const [own, whole] = [await rest(stream), await rest(follower)]
  expect(whole.filter(({ type }) => type === 'start')).toEqual([{ type: 'start', messageId }])
  expect(own[0]).toEqual({ type: 'start', messageId })
  expect(whole).toEqual([...asked.slice(0, -2), ...own.slice(1)])
  expect(await refusedBySdk(whole)).toEqual([])
  expect((await scene.decide(id, [])).status).toBe(400)
  expect((await ui.chat(id, '', { messages: decided })).status).toBe(409)
})

verifies('contract-15.ag-ui', 'a run ends with interrupts; the next one resumes', async () => {
  const threadId = randomUUID()
  scene.up.next(
    asks('', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}'), call('pay', 'c3', '{"amount":3}')),
  )
  const asked = await rest(await ui.run(threadId, 'run 1', 'Pay!'))
  expect(asked.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
  expect(asked.at(-1)).toMatchObject({
    type: 'RUN_FINISHED',
    outcome: {
      type: 'interrupt',
      interrupts: ['c1', 'c2', 'c3'].map((id) => ({ id, toolCallId: id, reason: 'tool_approval' })),
    },
  })
  scene.says('Paid.')
  const resume = [
    { interruptId: 'c1', status: 'resolved', payload: { approved: true } },
    { interruptId: 'c2', status: 'resolved', payload: { approved: false, reason: 'No.' } },
    { interruptId: 'c3', status: 'cancelled' },
  ]
  const resumed = await rest(await ui.run(threadId, 'run 2', '', { resume, messages: [] }))
  expect(resumed.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
  expect(resumed.filter(({ type }) => type === 'TOOL_CALL_RESULT').map(({ toolCallId }) => toolCallId)).toEqual([
    'c1',
    'c2',
    'c3',
  ])
  expect(resumed.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  const again = await rest(await ui.run(threadId, 'run 2', '', { resume, messages: [] }))
  expect(again).toEqual(resumed)
  expect(scene.tools.requests.map(({ body }) => body)).toEqual(['{"amount":1}'])
})

verifies(
  'contract-15.ag-ui',
  'a page’s own tools end the run, and their results at the end of messages go on',
  async () => {
    const threadId = randomUUID()
    const { name, description, parameters } = weather.function
    const tools = [{ name, description, parameters }]
    const user = { id: 'u1', role: 'user', content: 'Weather?' }
    scene.up.next(asks('Looking. ', call('look', 'l1'), call('weather', 'w1')))
    const first = await rest(await ui.run(threadId, 'run 1', '', { messages: [user], tools }))
    expect(first.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
    expect(first.filter(({ type }) => type === 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)).toEqual([
      'l1',
      'w1',
    ])
    expect(first.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(scene.up.calls.at(-1)?.body.tools).toContainEqual(weather)

    // Sent again with what the page was shown, it is the same run.
    const shown = { id: 'r1', role: 'tool', toolCallId: 'l1', content: 'done' }
    const again = await rest(await ui.run(threadId, 'run 1', '', { messages: [user, shown], tools }))
    expect(again).toEqual(first)
    const other = { messages: [user, { ...shown, toolCallId: 'x' }] }
    expect((await scene.call('POST', ui.agUi, ui.runBody(threadId, 'run 2', '', other))).status).toBe(400)

    scene.says('Sunny.')
    const own = { id: 'r2', role: 'tool', toolCallId: 'w1', content: 'sun' }
    const run = () => ui.run(threadId, 'run 3', '', { messages: [user, shown, own], tools })
    const last = await rest(await run())
    expect(last.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(scene.up.calls.at(-1)?.body.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'w1', content: 'sun' })
    // The page has its own result already: its client would add it to the messages once more.
    expect(last.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toEqual([])
    expect(await rest(await run())).toEqual(last)
    const late = ui.runBody(threadId, 'run 4', '', { messages: [user, shown, own], tools })
    expect((await scene.call('POST', ui.agUi, late)).status).toBe(409)
    const taken = ui.runBody(randomUUID(), 'run', '', { messages: [user], tools: [{ ...tools[0], name: 'look' }] })
    const refused = await scene.call('POST', ui.agUi, taken)
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringMatching(/^tools\.0\..*name: /)])
  },
)

verifies('contract-15.ag-ui', 'the model learns why a tool of the page failed', async () => {
  const threadId = randomUUID()
  const tools = [{ name: 'weather', description: '', parameters: {} }]
  scene.up.next(asks('', call('weather', 'w1'), call('weather', 'w2')))
  await rest(await ui.run(threadId, 'run 1', 'Weather?', { tools }))
  scene.up.next(asks('Rain. ', call('look', 'l1')))
  scene.says('Better now.')
  const failed = (toolCallId: string, content: string) => ({ role: 'tool', toolCallId, content, error: 'boom' })
  const messages = [
    { id: 'a', ...failed('w1', '') },
    { id: 'b', ...failed('w2', 'half') },
  ]
  const events = await rest(await ui.run(threadId, 'run 2', '', { messages, tools }))
  const given = scene.up.calls.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'tool')
  expect(given).toMatchObject([{ content: 'boom' }, { content: 'half' }, { tool_call_id: 'l1' }])
  // The agent's own tool is another matter: nobody but the server has its result.
  const results = events.filter(({ type }) => type === 'TOOL_CALL_RESULT')
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['l1'])
})

verifies(
  'contract-15.ag-ui',
  'a call that waits is named as nothing before it, where a model repeats its ids',
  async () => {
    const threadId = randomUUID()
    scene.up.next(asks('', call('look', 'c1')))
    scene.up.next(asks('', call('look', 'c1')))
    scene.up.next(asks('', call('pay', 'c1', '{"amount":1}')))
    const asked = await rest(await ui.run(threadId, 'run 1', 'Pay!'))
    const ids = asked.filter(({ type }) => type === 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)
    expect(ids).toEqual(['c1', 'c1_2', 'c1_3'])
    expect((await scene.session(threadId)).pending).toMatchObject([{ call_id: 'c1_3' }])
  },
)
