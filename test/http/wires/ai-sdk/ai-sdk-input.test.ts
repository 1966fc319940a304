/** Contract section 12: what the AI SDK's endpoints take, and what they refuse. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { nobody, openScene, type Scene, storedMessages } from '../../scene.ts'
import { rest, uiScene, userMessage } from '../../ui-scene.ts'

let scene: Scene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openScene()
  ui = uiScene(scene)
})
afterAll(() => scene.close())

verifies('contract-12.ai-sdk-input', 'with on_busy reject a busy session is 409, and nothing is stored', async () => {
  const id = randomUUID()
  const next = scene.byHand()
  const stream = await ui.chat(id, 'go')
  const up = await next
  const { status, json, headers } = await scene.call('POST', ui.aiSdk, ui.chatBody(id, 'again', { on_busy: 'reject' }))
  expect([status, json, headers.get('x-should-retry')]).toEqual([409, { error: expect.any(String) }, 'false'])
  await up.finish()
  await rest(stream)
  expect(await scene.messages(id)).toHaveLength(2)
})

verifies(
  'contract-12.ai-sdk-input',
  'a key is held to trigger, messageId and the words of the last message, to nothing else',
  async () => {
    const id = randomUUID()
    scene.says(['one'])
    const key = { 'idempotency-key': 'k' }
    const first = await ui.chat(id, 'go', {}, key)
    await rest(first)
    const history = [userMessage('before', 'b'), { id: 'r', role: 'assistant', parts: [] }, userMessage('go', 'other')]
    const again = await ui.chat(id, 'go', { messages: history, extra: 1 }, key)
    await rest(again)
    expect(again.raw()).toBe(first.raw())
    for (const changed of [{ messages: [userMessage('other')] }, { messageId: 'm' }]) {
      const { status, json } = await scene.call('POST', ui.aiSdk, ui.chatBody(id, 'go', changed), key)
      expect([status, json.error.message]).toEqual([400, expect.stringContaining('Idempotency-Key')])
    }
    // Ids of messages are no keys.
    await rest(await ui.chat(id, 'go'))
    await rest(await ui.chat(id, 'go'))
    expect(await scene.messages(id)).toHaveLength(6)
  },
)

verifies('contract-12.ai-sdk-input', 'what it cannot take is 400 that names it, and stores nothing', async () => {
  const id = randomUUID()
  const before = await storedMessages(scene.app)
  const last = (message: object) => ({ messages: [userMessage('x'), message] })
  for (const [body, named] of [
    [{ id: '' }, 'id'],
    [{ on_busy: 'wait' }, 'on_busy'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'system', parts: [{ type: 'text', text: 'x' }] }] }, 'messages'],
    [{ trigger: 'other' }, 'trigger'],
    [last({ role: 'assistant', parts: [{ type: 'text', text: 'x' }] }), 'messages.1.role'],
    [last({ role: 'user' }), 'messages.1.parts'],
    [last({ role: 'user', parts: [] }), 'messages.1.parts'],
    [
      last({
        role: 'user',
        parts: [
          { type: 'text', text: 'x' },
          { type: 'data-x', data: 1 },
        ],
      }),
      'messages.1.parts.1',
    ],
    [last({ role: 'user', parts: [{ type: 'text' }] }), 'messages.1.parts.0'],
  ] as const) {
    const { status, json } = await scene.call('POST', ui.aiSdk, ui.chatBody(id, 'go', body))
    expect([body, status, json.error.message]).toEqual([body, 400, expect.stringMatching(new RegExp(`^${named}: `))])
  }
  expect(await storedMessages(scene.app)).toBe(before)
  expect((await scene.call('GET', `${scene.sessions}/${id}`)).status).toBe(404)
})

verifies(
  ['contract-12.ai-sdk-input', 'contract-2.errors'],
  'a field that holds another kind of value than it should is not looked at, wherever it stands',
  async () => {
    const id = randomUUID()
    scene.says(['one'])
    await rest(await ui.chat(id, 'go'))
    const [, answer] = await ui.uiMessages(id)
    // Text made of such an object is a TypeError.
    const odd = { toString: 1 }
    const strange = { id: odd, role: 'assistant', parts: [] }
    const between = await ui.chat(id, 'on', { messages: [answer, strange, userMessage('on')] })
    expect(between.status).toBe(200)
    await rest(between)
    const file = { type: 'file', url: 'data:text/plain;base64,aGk=', mediaType: odd }
    const part = await ui.chat(id, '', { messages: [{ ...userMessage(''), parts: [file] }] })
    expect(part.status).toBe(200)
    await rest(part)
    const address = { ...file, url: 'https://example.com/a.png' }
    const fetched = { messages: [{ ...userMessage(''), parts: [address] }] }
    const { status, json } = await scene.call('POST', ui.aiSdk, ui.chatBody(id, '', fetched))
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^messages\.0\.parts\.0\.url: /)])
  },
)

verifies(
  ['contract-12.ai-sdk-input', 'contract-12.ai-sdk-resume', 'contract-12.ai-sdk-messages'],
  'an id of any case is one session; another agent’s is 404 to send to, and as if it were not to read',
  async () => {
    const id = randomUUID()
    scene.says(['one'])
    await rest(await ui.chat(id.toUpperCase(), 'go'))
    expect((await ui.uiMessages(id.toUpperCase())).map((one) => one.role)).toEqual(['user', 'assistant'])

    const other = await scene.call('POST', '/api/v1/agents', {
      name: 'other',
      providerId: scene.providerId,
      model: 'm',
    })
    const theirs = uiScene({ ...scene, agent: `/api/v1/agents/${other.json.id}` })
    expect((await scene.call('POST', theirs.aiSdk, theirs.chatBody(id, 'go'))).status).toBe(404)
    expect((await theirs.follow(id)).status).toBe(204)
    expect((await theirs.stop(id)).status).toBe(204)
    expect(await theirs.uiMessages(id)).toEqual([])
    expect(await ui.uiMessages('no-uuid')).toEqual([])
    expect((await ui.follow('no-uuid')).status).toBe(204)
    expect((await ui.stop('no-uuid')).status).toBe(204)

    const gone = uiScene({ ...scene, agent: `/api/v1/agents/${nobody}` })
    expect((await scene.call('POST', gone.aiSdk, gone.chatBody(randomUUID(), 'go'))).status).toBe(404)
    expect((await gone.follow(id)).status).toBe(404)
  },
)

verifies(
  'contract-12.ai-sdk-input',
  'two first messages of one new chat at once: one is admitted, one is busy',
  async () => {
    const id = randomUUID()
    scene.up.always(() => {})
    const before = scene.up.calls.length
    const reject = { on_busy: 'reject' }
    const [one, two] = await Promise.all([ui.chat(id, 'one', reject), ui.chat(id, 'two', reject)])
    expect([one.status, two.status].sort()).toEqual([200, 409])
    await (await scene.up.call(before + 1)).finish()
    await rest(one.status === 200 ? one : two)
    expect(await scene.messages(id)).toHaveLength(2)
  },
)
