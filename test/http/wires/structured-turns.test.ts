/** Contract section 35: where the answer must be JSON, only the text of the last turn is content. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asks, look, openToolScene, says, startToolServer, type ToolScene } from '../tool-scene.ts'
import { rest, uiScene, type WirePart } from '../ui-scene.ts'

const format = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } }
const said = 'I will check. '
const answer = '{"answer":"final"}'

let scene: ToolScene
let ui: ReturnType<typeof uiScene>
let tools: Awaited<ReturnType<typeof startToolServer>>
beforeAll(async () => {
  scene = await openToolScene()
  ui = uiScene(scene)
  tools = await startToolServer(() => 'found')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
  await scene.call('PUT', scene.agent, { responseFormat: format })
})
afterAll(async () => {
  await tools[Symbol.asyncDispose]()
  await scene.close()
})

const twoTurns = () => {
  scene.up.next(asks(said, look('1', 'c1')))
  scene.up.next(says(answer))
}

const textsOf = (parts: readonly WirePart[], type: string) =>
  parts.map((part) => (part.type === type ? part.delta : '')).join('')

async function streamed(path: string, body: object) {
  const stream = await openSse(`${scene.app.url}${path}`, { stream: true, ...body })
  const { frames } = await stream.rest()
  const deltas = frames.flatMap(({ data }) => (data === '[DONE]' ? [] : (JSON.parse(data).choices?.[0]?.delta ?? [])))
  const joined = (name: string) => deltas.map((delta) => delta[name] ?? '').join('')
  return { content: joined('content'), reasoning: joined('reasoning_content'), frames }
}

verifies('contract-35.last-turn', 'chat completions, stateless: streamed and not, reasoning shown or not', async () => {
  const path = `${scene.agent}/deploy/chat/completions`
  const body = { messages: [{ role: 'user', content: 'Look!' }] }
  for (const include_reasoning of [true, false]) {
    twoTurns()
    const { message } = (await scene.call('POST', path, { ...body, include_reasoning })).json.choices[0]
    expect(message).toEqual({
      role: 'assistant',
      content: answer,
      ...(include_reasoning && { reasoning_content: said }),
    })
    twoTurns()
    const { content, reasoning } = await streamed(path, { ...body, include_reasoning })
    expect([content, reasoning]).toEqual([answer, include_reasoning ? said : ''])
  }
})

verifies('contract-35.last-turn', 'sessions: as it was streamed, resumed, read later, and told the model', async () => {
  const { id } = (await scene.call('POST', `${scene.agent}/deploy/sessions`, {})).json
  const path = `${scene.agent}/deploy/sessions/${id}`
  twoTurns()
  const body = { messages: [{ role: 'user', content: 'Look!' }], include_reasoning: true }
  const { content, reasoning, frames } = await streamed(`${path}/chat/completions`, body)
  expect([content, reasoning]).toEqual([answer, said])
  expect(scene.up.calls.at(-1)?.body.messages.at(-2)).toMatchObject({ role: 'assistant', content: said })
  const [, reply] = (await scene.call('GET', `${path}/messages`)).json.messages
  expect(reply).toMatchObject({ content: answer, reasoning: said })
  const after = frames.find(({ data }) => data.includes('reasoning_content'))?.id
  const resumed = await openSse(`${scene.app.url}${path}/chat/completions/stream`, undefined, {
    'last-event-id': `${after}`,
  })
  expect((await resumed.rest()).frames.map(({ data }) => data).join()).not.toContain(said)
})

verifies('contract-35.last-turn', 'AI SDK and AG-UI: the text of the message is the last turn’s', async () => {
  const chat = randomUUID()
  twoTurns()
  const parts = await rest(await ui.chat(chat, 'Look!'))
  expect([textsOf(parts, 'text-delta'), textsOf(parts, 'reasoning-delta')]).toEqual([answer, said])
  const [, message] = await ui.uiMessages(chat)
  const texts = message.parts.filter(({ type }: WirePart) => type === 'text' || type === 'reasoning')
  expect(texts).toMatchObject([
    { type: 'reasoning', text: said },
    { type: 'text', text: answer },
  ])
  twoTurns()
  const events = await rest(await ui.run(randomUUID(), 'run 1', 'Look!'))
  const reasoning = textsOf(events, 'REASONING_MESSAGE_CONTENT')
  expect([textsOf(events, 'TEXT_MESSAGE_CONTENT'), reasoning]).toEqual([answer, said])
})

verifies('contract-35.last-turn', 'a turn whose calls wait is the last one, and so is one that fails', async () => {
  const path = `${scene.agent}/deploy/chat/completions`
  const own = { type: 'function', function: { name: 'mine', parameters: { type: 'object' } } }
  const body = { messages: [{ role: 'user', content: 'Look!' }], tools: [own] }
  scene.up.next(asks(said, { name: 'mine', arguments: '{}', id: 'c1' }))
  const { message, finish_reason } = (await scene.call('POST', path, body)).json.choices[0]
  expect([message.content, finish_reason]).toEqual([said, 'tool_calls'])
  scene.up.next(async (call) => {
    await call.text(said)
    call.end()
  })
  const { content, frames } = await streamed(path, body)
  expect([content, JSON.parse(frames.at(-1)?.data ?? '{}').error?.code]).toEqual([said, 'provider_error'])
})

verifies('contract-35.last-turn', 'a turn without tools is shown as it comes, and so is plain text', async () => {
  const path = `${scene.agent}/deploy/chat/completions`
  const body = { messages: [{ role: 'user', content: 'Look!' }], response_format: { type: 'text' } }
  twoTurns()
  const { content } = await streamed(path, body)
  expect(content).toBe(said + answer)
})
