/** Requests are read back as they were sent, and requests behind one response do not shut each other out. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: { MAX_SESSION_BYTES: '10000' } })
const { create, client } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const text = (words: string) => ({ type: 'input_text', text: words })
const picture = { type: 'input_image', image_url: PIXEL }

interface Item {
  id: string
  role: string
  content: { type: string; text?: string }[]
}
const shown = (items: Item[]) => items.map(({ content }) => content.map((part) => part.text ?? part.type))
const listed = async (path: string): Promise<Item[]> =>
  (await scene.call('GET', `${path}?order=asc&limit=100`)).json.data

verifies(
  'contract-24.input-items',
  'several messages and texts of one request are read back as they were sent',
  async () => {
    scene.says(['ok'])
    const begun = await create({ input: [user([text('a'), text('b'), picture, text('c')])] })
    expect(begun.json.error).toBe(null)
    const first = begun.json
    expect(shown(await listed(`${scene.responses}/${first.id}/input_items`))).toEqual([['a', 'b', 'input_image', 'c']])
    const input = [user('one'), user([text('two'), text('three'), picture]), user([picture, text('four')])]
    const made = (await create({ input, previous_response_id: first.id })).json
    const sent = [['one'], ['two', 'three', 'input_image'], ['input_image', 'four']]
    const items = await listed(`${scene.responses}/${made.id}/input_items`)
    expect(shown(items)).toEqual(sent)
    expect(new Set(items.map(({ id }) => id)).size).toBe(3)
    const { id } = first.conversation
    const all = await listed(`${scene.conversations}/${id}/items`)
    expect(shown(all)).toEqual([['a', 'b', 'input_image', 'c'], ['ok'], ...sent, ['ok']])
    expect(all.slice(2, 5)).toEqual(items)
    for (const item of items)
      expect((await scene.call('GET', `${scene.conversations}/${id}/items/${item.id}`)).json).toEqual(item)
    // A client that sends the whole conversation again goes on in it.
    const next = (await create({ input: [...all, user('five')] })).json
    expect(next.conversation.id).toBe(id)
    expect(shown(await listed(`${scene.responses}/${next.id}/input_items`))).toEqual([['five']])
  },
)

verifies('contract-24.at-once', 'requests behind one response at once are all answered, each on its own', async () => {
  scene.says(['ok'])
  const base = (await create({ input: 'Hi', metadata: { topic: 'one' }, user: 'ann' })).json
  const begun = scene.byHand()
  const ask = (input: string, more: object = {}) => create({ input, previous_response_id: base.id, ...more })
  const running = (await ask('first', { background: true })).json
  const held = await begun
  scene.says(['second answer'])
  const second = (await ask('second')).json
  expect([second.status, second.previous_response_id, second.output[0].content[0].text]).toEqual([
    'completed',
    base.id,
    'second answer',
  ])
  const messages = scene.up.calls.at(-1)?.body.messages
  expect(messages.map(({ content }: { content: string }) => content)).toEqual(['Hi', 'ok', 'second'])
  expect(second.conversation.id).not.toBe(base.conversation.id)
  expect((await client.responses.retrieve(second.id)).previous_response_id).toBe(base.id)
  const third = (await create({ input: 'third', previous_response_id: second.id })).json
  expect(third.conversation).toEqual(second.conversation)

  // A request that names the conversation, the running response, a way to wait or a key asks for this very conversation,
  // and a client secret of one session has no other one.
  const bound = { user: 'ann', session_id: sessionOf(base.conversation.id) }
  const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, bound)).json
  const sessions = async () => (await scene.call('GET', `${scene.agent}/deploy/sessions`)).json.total
  const before = await sessions()
  const refused = [
    await ask('no', { conversation: base.conversation.id }),
    await create({ input: 'no', previous_response_id: running.id }),
    await ask('no', { on_busy: 'reject' }),
    await create({ input: 'no', previous_response_id: base.id }, { 'idempotency-key': 'k' }),
    await create({ input: 'no', previous_response_id: base.id }, { authorization: `Bearer ${value}` }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409])
  expect((await ask('no', { tools: [{ type: 'function' }] })).status).toBe(400)
  expect((await ask('x'.repeat(10_000))).status, 'no copy of what is refused is left').toBe(413)
  expect(await sessions()).toBe(before)
  await held.finish('stop')
})

verifies('contract-32.items', 'texts of the assistant one after the other are items of their own', async () => {
  const said = (content: string) => ({ type: 'message', role: 'assistant', content })
  const items = [user('Hi'), said('one'), said('two'), said('three')]
  const { id } = (await scene.call('POST', scene.conversations, { items })).json
  const path = `${scene.conversations}/${id}/items`
  const given = await listed(path)
  expect(shown(given)).toEqual([['Hi'], ['one'], ['two'], ['three']])
  // The last one marks the place.
  scene.says(['ok'])
  const next = (await create({ input: [given[3], user('four')] })).json
  expect(next.conversation.id).toBe(id)
  expect(scene.up.calls.at(-1)?.body.messages).toMatchObject([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'onetwothree' },
    { role: 'user', content: 'four' },
  ])
  await client.responses.delete(next.id)
  await client.conversations.items.delete(given[3]?.id ?? '', { conversation_id: id })
  expect(shown(await listed(path))).toEqual([['Hi'], ['one'], ['two']])
})
