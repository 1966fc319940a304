/** Contract section 25, "Callers with instructions", on every endpoint that takes messages. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene, type Scene, storedMessages } from '../scene.ts'
import { rest, uiScene, userMessage } from '../ui-scene.ts'

let scene: Scene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openScene({ settings: {}, system: 'Be brief.' })
  ui = uiScene(scene)
  scene.says(['fine'])
})
afterAll(() => scene.close())

const system = (content: unknown) => ({ role: 'system', content })
const user = (content: string) => ({ role: 'user', content })
const take = (callerInstructions: string | null) => scene.call('PUT', scene.agent, { callerInstructions })
/** What the provider got last. */
const sent = () => scene.up.calls.at(-1)?.body.messages
const refusal = 'messages.0.role: The agent has the system prompt; leave it out, or set callerInstructions.'

verifies(
  'contract-25.caller-instructions',
  'by default they are 400 that says what to do, and store nothing',
  async () => {
    const id = await scene.newSession()
    const before = await storedMessages(scene.app)
    for (const messages of [[system('x'), user('hi')], [system('x')]]) {
      for (const { status, json } of [await scene.stateless(messages), await scene.send(id, '', { messages })]) {
        expect([status, json.error.message, json.error.param]).toEqual([400, refusal, 'messages.0.role'])
      }
    }
    expect(await storedMessages(scene.app)).toBe(before)
  },
)

verifies(
  'contract-25.caller-instructions',
  'appended, they follow the prompt in order, for that request alone, and are no messages',
  async () => {
    expect((await take('append')).json.callerInstructions).toBe('append')
    const parts = [
      { type: 'text', text: 'Two' },
      { type: 'text', text: '.' },
    ]
    const messages = [system('One.'), user('hi'), { role: 'developer', content: parts }]
    expect((await scene.stateless(messages)).status).toBe(200)
    const prompt = { role: 'system', content: 'Be brief.\n\nOne.\n\nTwo.' }
    expect(sent()).toEqual([prompt, user('hi')])

    const id = await scene.newSession()
    expect((await scene.send(id, '', { messages })).status).toBe(200)
    expect(sent()).toEqual([prompt, user('hi')])
    await scene.send(id, 'again')
    expect(sent()).toEqual([
      { role: 'system', content: 'Be brief.' },
      user('hi'),
      { role: 'assistant', content: 'fine' },
      user('again'),
    ])
    const stored = await scene.messages(id)
    expect(stored.map(({ content }) => content)).toEqual(['hi', 'fine', 'again', 'fine'])
    const seen = await scene.call('GET', `/api/v1/debug/replies/${stored[1].id}/requests`)
    expect(seen.json.requests[0].body.messages).toEqual([prompt, user('hi')])
  },
)

verifies('contract-25.caller-instructions', 'instructions alone, or that are no text, are 400 in words', async () => {
  for (const messages of [[system('x')], [system(5), user('hi')]]) {
    const { status, json } = await scene.stateless(messages)
    expect([messages, status, json.error.message]).toEqual([messages, 400, expect.stringMatching(/^messages/)])
  }
  expect((await scene.call('POST', scene.sessions, { messages: [system('x'), user('hi')] })).status).toBe(400)
})

verifies('contract-25.caller-instructions', 'a client secret brings none', async () => {
  const secrets = `${scene.agent}/deploy/client_secrets`
  const { value } = (await scene.call('POST', secrets, { user: 'ada' })).json
  const bearer = { authorization: `Bearer ${value}` }
  const { id } = (await scene.call('POST', scene.sessions, {}, bearer)).json
  const answer = await scene.send(id, '', { messages: [system('x'), user('hi')] }, bearer)
  expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining('client secret')])
  // On the endpoints of front ends they are left out, as anything else that is not used.
  const chat = await ui.chat(randomUUID(), 'hi', { system: 'x' }, bearer)
  await rest(chat)
  expect(chat.headers.get('x-greenroom-ignored')).toBe('system')
  expect(sent()).toEqual([{ role: 'system', content: 'Be brief.' }, user('hi')])
})

verifies('contract-25.page-instructions', 'front ends’ are taken, or left out and named', async () => {
  const pageSystem = { id: 's', role: 'system', parts: [{ type: 'text', text: 'One.' }] }
  const chat = () => ui.chat(randomUUID(), '', { system: 'Zero.', messages: [pageSystem, userMessage('hi')] })
  const runMessages = [
    { id: '1', role: 'developer', content: 'One.' },
    { id: '2', role: 'user', content: 'hi' },
  ]
  const run = () => ui.run(randomUUID(), 'r', '', { messages: runMessages })
  await take('append')
  for (const [send, content] of [
    [chat, 'Be brief.\n\nZero.\n\nOne.'],
    [run, 'Be brief.\n\nOne.'],
  ] as const) {
    const stream = await send()
    await rest(stream)
    expect([stream.headers.get('x-greenroom-ignored'), sent()]).toEqual([
      null,
      [{ role: 'system', content }, user('hi')],
    ])
  }
  expect((await take(null)).json.callerInstructions).toBe('responses')
  for (const [send, named] of [
    [chat, 'system'],
    [run, 'developer'],
  ] as const) {
    const stream = await send()
    await rest(stream)
    expect([stream.headers.get('x-greenroom-ignored'), sent()]).toEqual([
      named,
      [{ role: 'system', content: 'Be brief.' }, user('hi')],
    ])
  }
})

verifies('contract-25.caller-instructions', 'export and import carry it', async () => {
  await take('append')
  const exported = (await scene.call('GET', '/api/v1/export')).json
  expect(exported.agents).toMatchObject([{ callerInstructions: 'append' }])
  await take('refuse')
  expect((await scene.call('POST', '/api/v1/import', exported)).status).toBe(200)
  expect((await scene.call('GET', scene.agent)).json.callerInstructions).toBe('append')
  expect((await scene.call('PUT', scene.agent, { callerInstructions: 'sometimes' })).status).toBe(400)
})
