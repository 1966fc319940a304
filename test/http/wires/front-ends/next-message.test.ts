/** Contract section 25: what a chat page sends after a stop, a refusal, and with its own tools. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene, type Scene } from '../../scene.ts'
import { rest, uiScene, userMessage } from '../../ui-scene.ts'

let scene: Scene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openScene()
  ui = uiScene(scene)
})
afterAll(() => scene.close())

/** A chat whose reply runs, with some text. */
async function running(id: string) {
  const next = scene.byHand()
  const stream = await ui.chat(id, 'first')
  const up = await next
  await up.text('some')
  while (!stream.raw().includes('some')) await stream.next()
  scene.says(['next'])
  return stream
}

verifies('contract-25.busy', 'the next message of a page cancels the reply that runs, and follows it', async () => {
  const id = randomUUID()
  const stopped = await running(id)
  const [, reply] = await ui.uiMessages(id)
  const messages = [
    userMessage('first'),
    { id: reply.id, role: 'assistant', parts: [{ type: 'text', text: 'so' }] },
    userMessage('second'),
  ]
  await rest(await ui.chat(id, 'second', { messages }))
  expect((await rest(stopped)).at(-1)).toEqual({ type: '[DONE]' })
  expect((await scene.messages(id)).map(({ content, finish_reason: end }) => [content, end])).toEqual([
    ['first', null],
    ['some', 'cancelled'],
    ['second', null],
    ['next', 'stop'],
  ])
})

verifies('contract-25.busy', 'the next run of AG-UI does so too; regenerate as well', async () => {
  for (const next of [
    (id: string) => ui.run(id, 'r2', 'second'),
    (id: string) => ui.chat(id, 'first', { trigger: 'regenerate-message' }),
  ]) {
    const id = randomUUID()
    const stopped = await running(id)
    await rest(await next(id))
    await rest(stopped)
    expect((await scene.messages(id)).at(-1)).toMatchObject({ content: 'next', finish_reason: 'stop' })
  }
})

verifies('contract-25.busy', 'joins come first, and reject leaves the reply alone', async () => {
  const id = randomUUID()
  const next = scene.byHand()
  const first = await ui.run(id, 'r1', 'first')
  const up = await next
  const again = await ui.run(id, 'r1', 'first')
  const refused = await scene.call(
    'POST',
    ui.agUi,
    ui.runBody(id, 'r2', 'x', { forwardedProps: { on_busy: 'reject' } }),
  )
  expect(refused.status).toBe(409)
  const wrong = await scene.call('POST', ui.agUi, ui.runBody(id, 'r2', 'x', { forwardedProps: { on_busy: 'wait' } }))
  expect([wrong.status, wrong.json.error.message]).toEqual([400, expect.stringMatching(/^forwardedProps\.on_busy: /)])
  await up.text('all')
  await up.finish()
  await rest(first)
  await rest(again)
  expect(again.raw()).toBe(first.raw())
})

verifies(
  'contract-25.regenerate-unsent',
  'a message that was refused is sent when it is to be answered again',
  async () => {
    const id = randomUUID()
    scene.says(['answer'])
    // The very first one: there is no session either.
    await rest(await ui.chat(id, 'first', { trigger: 'regenerate-message' }))
    const [asked, reply] = await scene.messages(id)
    expect([asked.content, reply.content]).toEqual(['first', 'answer'])
    const messages = [
      userMessage('first'),
      { id: reply.id, role: 'assistant', parts: [] },
      { id: 'x', role: 'user', parts: [{ type: 'text', text: 'was refused' }] },
    ]
    await rest(await ui.chat(id, '', { messages, trigger: 'regenerate-message', messageId: 'x' }))
    expect((await scene.messages(id)).map(({ content }) => content)).toEqual([
      'first',
      'answer',
      'was refused',
      'answer',
    ])
    // What is stored is answered once more, not sent twice.
    await rest(await ui.chat(id, '', { messages, trigger: 'regenerate-message', messageId: 'x' }))
    expect(await scene.messages(id)).toHaveLength(4)
    const none = { messages: [{ id: 'a', role: 'assistant', parts: [] }], trigger: 'regenerate-message' }
    expect((await scene.call('POST', ui.aiSdk, ui.chatBody(id, '', none))).status).toBe(400)
  },
)

verifies(
  'contract-25.tools-object',
  'tools by name reach the model; empty ones are none; a wrong one is named',
  async () => {
    const tools = {
      weather: {
        description: 'The weather.',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
      },
      bare: { parameters: {} },
    }
    scene.says(['fine'])
    const before = scene.up.calls.length
    await rest(await ui.chat(randomUUID(), 'go', { tools }))
    const asked = (await scene.up.call(before + 1)).body
    expect(asked.tools).toMatchObject([
      { function: { name: 'weather', description: 'The weather.', parameters: tools.weather.parameters } },
      { function: { name: 'bare' } },
    ])
    for (const [n, empty] of [{}, [], null].entries()) {
      await rest(await ui.chat(randomUUID(), 'go', { tools: empty }))
      expect((await scene.up.call(before + 2 + n)).body.tools).toBeUndefined()
    }
    for (const wrong of [{ x: 1 }, { 'no name': { parameters: {} } }, { x: { parameters: 1 } }]) {
      const { status, json } = await scene.call('POST', ui.aiSdk, ui.chatBody(randomUUID(), 'go', { tools: wrong }))
      expect([wrong, status, json.error.message]).toEqual([wrong, 400, expect.stringMatching(/^tools\./)])
    }
  },
)
