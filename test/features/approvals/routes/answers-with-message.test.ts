/** Results of the caller's calls that come together with the next message (contract section 15), on every surface. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { rest, uiScene } from '../../../http/ui-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call, callsOfWaitingTest, openWaitingScene, weather, wireCall } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { sent } = callsOfWaitingTest(scene)
const ui = uiScene(scene)

const asked = () => scene.up.next(asks('Looking. ', call('weather', 'c1'), call('weather', 'c2')))

/** What the model was told of the calls at last. */
async function told(): Promise<(string | undefined)[]> {
  const { messages } = await sent(2)
  const results = messages.filter(({ role }: { role: string }) => role === 'tool')
  expect(messages.at(-1)).toEqual({ role: 'user', content: 'And tomorrow?' })
  return results.map(({ content }: { content: string }) => content)
}

const rejected = 'The call was rejected, and not made: The user sent a new message instead.'

verifies('contract-15.caller-tools', 'in a session, results before the last message are kept', async () => {
  const id = await scene.newSession()
  asked()
  await scene.send(id, 'Weather?', { tools: [weather] })
  scene.says('Rain.')
  const answer = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, {
    messages: [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'Looking. ', tool_calls: [wireCall('weather', 'c1'), wireCall('weather', 'c2')] },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      { role: 'tool', tool_call_id: 'unknown', content: 'nothing' },
      { role: 'user', content: 'And tomorrow?' },
    ],
  })
  expect(answer.status).toBe(200)
  // What the message does not bring is rejected.
  expect(await told()).toEqual(['sun', rejected])
  const [, asking] = await scene.shown(id)
  expect(asking.toolCalls).toMatchObject([
    { id: 'c1', decision: 'respond' },
    { id: 'c2', decision: 'reject' },
  ])
})

verifies('contract-15.ai-sdk', 'outputs that the page has added before its next message are kept', async () => {
  const id = randomUUID()
  asked()
  await rest(await ui.chat(id, 'Weather?', { tools: [weather] }))
  const [question, asking] = await ui.uiMessages(id)
  const answered = asking.parts.map((part: { toolCallId?: string }) =>
    part.toolCallId === 'c1' ? { ...part, state: 'output-available', output: { sky: 'blue' } } : part,
  )
  const next = { id: 'next', role: 'user', parts: [{ type: 'text', text: 'And tomorrow?' }] }
  scene.says('Rain.')
  await rest(await ui.chat(id, '', { messages: [question, { ...asking, parts: answered }, next] }))
  expect(await told()).toEqual(['{"sky":"blue"}', rejected])
  const [, shown] = await ui.uiMessages(id)
  expect(shown.parts.filter(({ type }: { type: string }) => type === 'dynamic-tool')).toMatchObject([
    { state: 'output-available', output: '{"sky":"blue"}' },
    { state: 'output-denied' },
  ])
})

verifies('contract-15.ag-ui', 'results before the newest message are kept', async () => {
  const id = randomUUID()
  const tools = [{ name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: {} } }]
  asked()
  await rest(await ui.run(id, 'run 1', 'Weather?', { tools }))
  scene.says('Rain.')
  const messages = [
    { id: 'from-the-page', role: 'user', content: 'Weather?' },
    { id: 'r1', role: 'tool', toolCallId: 'c1', content: 'sun' },
    { id: 'r2', role: 'tool', toolCallId: 'c2', content: 'snow' },
    { id: 'next', role: 'user', content: 'And tomorrow?' },
  ]
  await rest(await ui.run(id, 'run 2', '', { messages, tools }))
  expect(await told()).toEqual(['sun', 'snow'])
})

verifies('contract-24.calls', 'outputs before a new message are kept', async () => {
  const create = (body: object) => scene.call('POST', `${scene.agent}/deploy/responses`, body)
  const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
  asked()
  const first = (await create({ input: 'Weather?', tools })).json
  const calls = first.output.filter(({ type }: { type: string }) => type === 'function_call')
  const outputs = calls.map(({ call_id }: { call_id: string }, index: number) => ({
    type: 'function_call_output',
    call_id,
    output: ['sun', 'snow'][index],
  }))
  scene.says('Rain.')
  // As clients do that send everything each time.
  const input = [
    { role: 'user', content: 'Weather?' },
    ...first.output,
    ...outputs,
    { role: 'user', content: 'And tomorrow?' },
  ]
  expect((await create({ input })).status).toBe(200)
  expect(await told()).toEqual(['sun', 'snow'])
})

verifies('contract-14.edit', 'results before a message of another branch are no answers to what waits', async () => {
  const id = await scene.newSession()
  scene.says('Hello.')
  await scene.send(id, 'Hi')
  const [, first] = await scene.shown(id)
  asked()
  await scene.send(id, 'Weather?', { tools: [weather] })
  scene.says('Rain.')
  const body = {
    parent_id: first.id,
    messages: [
      { role: 'tool', tool_call_id: 'c1', content: 'of another call' },
      { role: 'user', content: 'Edited' },
    ],
  }
  expect((await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, body)).status).toBe(200)
  const all = await scene.call('GET', `${scene.agent}/playground/sessions/${id}/messages?branches=all`)
  const asking = all.json.messages.find(({ toolCalls }: { toolCalls?: object[] }) => toolCalls?.length === 2)
  expect(asking.toolCalls).toMatchObject([{ decision: 'reject' }, { decision: 'reject' }])
})

verifies('contract-12.ai-sdk', 'outputs of a history are not read where nothing waits', async () => {
  const id = randomUUID()
  scene.says('Hello.')
  await rest(await ui.chat(id, 'Hi'))
  const [question, reply] = await ui.uiMessages(id)
  const output = { type: 'dynamic-tool', toolName: 'draw', toolCallId: 'c9', state: 'output-available', input: {} }
  const drawn = {
    ...reply,
    parts: [...reply.parts, { ...output, output: { url: 'data:image/png;base64,AAA@AAA=====A' } }],
  }
  const next = { id: 'next', role: 'user', parts: [{ type: 'text', text: 'More' }] }
  scene.says('Yes.')
  await rest(await ui.chat(id, '', { messages: [question, drawn, next] }))
  expect((await ui.uiMessages(id)).at(-1).parts.at(-1)).toMatchObject({ text: 'Yes.' })
})
