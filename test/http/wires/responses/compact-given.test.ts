/** `POST …/responses/compact` of a history that is stored nowhere (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create, client } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const compact = (body: object) => scene.call('POST', `${scene.responses}/compact`, body)
const sent = (): string => JSON.stringify(scene.up.calls.at(-1)?.body.messages)
const user = (content: unknown) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })
const long = (word: string): string => `${word} `.repeat(50)

/** A summary of a history that ends with what is not covered, if `newest` is short beside it. */
async function summarised() {
  scene.says(['SUMMARY'])
  const newest = { ...user('And?'), id: 'msg_theirs' }
  const input = [user('The password is swordfish.'), assistant(long('noted')), newest, assistant('Yes.')]
  const { status, json } = await compact({ input })
  expect([status, json.error]).toEqual([200, undefined])
  return json
}

verifies('contract-32.compact-given', 'the model is asked once, and nothing is stored', async () => {
  const count = async () =>
    (await scene.app.sql`select (select count(*) from sessions) + (select count(*) from checkpoints) as n`)[0]?.n
  const before = await count()
  const asked = scene.up.calls.length
  const { output, object, id, usage } = await summarised()
  expect(scene.up.calls).toHaveLength(asked + 1)
  expect(sent()).toContain('swordfish')
  expect(sent()).toContain('Summarise the conversation above')
  expect(await count()).toBe(before)
  expect({ object, id, usage }).toEqual({
    object: 'response.compaction',
    id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
    usage: expect.objectContaining({ input_tokens: expect.any(Number) }),
  })
  expect(output[0]).toMatchObject({ type: 'compaction', id: expect.stringMatching(/^cmp_/) })
  expect(JSON.stringify(output)).not.toContain('SUMMARY')
  // Behind it stands what it does not cover, as it was sent.
  expect(output.slice(1)).toMatchObject([
    { type: 'message', role: 'user', content: 'And?', id: 'msg_theirs' },
    { type: 'message', role: 'assistant', content: 'Yes.' },
  ])
})

verifies(
  'contract-32.compact-given',
  'its item begins a conversation: every message behind it is sent the summary',
  async () => {
    const { output } = await summarised()
    scene.says(['ok'])
    const first = (await create({ input: [user('passed over'), ...output, user('What was it?')] })).json
    expect(sent()).toMatch(/Summary of the earlier.*SUMMARY.*And\?.*What was it/s)
    expect(sent()).not.toContain('swordfish')
    expect(sent()).not.toContain('passed over')
    scene.says(['ok'])
    const second = (await create({ input: 'Sure?', previous_response_id: first.id })).json
    expect(second.conversation).toEqual(first.conversation)
    expect(sent()).toMatch(/SUMMARY.*Sure\?/s)
    // A client that keeps the whole history goes on in the same conversation.
    scene.says(['ok'])
    const input = [...output, user('What was it?'), ...first.output, user('Again?')]
    const third = (await create({ input })).json
    expect([third.conversation, third.previous_response_id]).toEqual([first.conversation, first.id])
    expect(sent().match(/SUMMARY/g)).toHaveLength(1)
    // Its copy begins with it, too, and a summary of the whole holds the first one.
    const { id: fork } = (
      await scene.call('POST', scene.sessions, { fork_of: { session_id: sessionOf(first.conversation.id) } })
    ).json
    scene.says(['ok'])
    await create({ input: 'A copy?', conversation: fork })
    expect(sent()).toMatch(/SUMMARY.*A copy\?/s)
    scene.says(['SECOND'])
    expect((await compact({ previous_response_id: second.id })).status).toBe(409)
    expect((await compact({ previous_response_id: third.id })).status).toBe(200)
    expect(sent()).toMatch(/SUMMARY.*Summarise the conversation above/s)
  },
)

verifies(
  'contract-32.compact-given',
  'it stands before an assistant’s message, and begins a conversation that is made',
  async () => {
    const [item] = (await summarised()).output
    scene.says(['ok'])
    await create({ input: [item, assistant('As I said.'), user('What?')] })
    expect(sent()).toMatch(/As I said\..*SUMMARY.*What\?/s)
    const { id } = await client.conversations.create({
      items: [item, { type: 'message', role: 'user', content: 'Hm.' }],
    })
    scene.says(['ok'])
    await create({ input: 'What?', conversation: id })
    expect(sent()).toMatch(/SUMMARY.*Hm\..*What\?/s)
    const refused = await scene.call('POST', `${scene.conversations}/${id}/items`, { items: [item] })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'items.0'])
  },
)

verifies(
  'contract-32.compact-given',
  'a summary serves what is stored nowhere, whichever conversation it is of',
  async () => {
    const [item] = (await summarised()).output
    const ask = async (one: object) => {
      scene.says(['ok'])
      expect((await create({ store: false, input: [one, user('What was it?')] })).status).toBe(200)
      expect(sent()).toMatch(/SUMMARY.*What was it\?/s)
    }
    await ask(item)
    const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'a', output: 'seen' }
    scene.says(['ok'])
    await create({ store: false, input: [item, call, output] })
    expect(sent()).toMatch(/SUMMARY.*seen/s)
    const tokens = async (input: unknown[]) =>
      (await scene.call('POST', `${scene.responses}/input_tokens`, { input })).json.input_tokens
    expect(await tokens([item, user('x')])).toBeGreaterThan(await tokens([user('x')]))
    scene.says(['ok'])
    const { id } = (await create({ input: 'one' })).json
    scene.says(['SUMMARY'])
    await ask((await compact({ previous_response_id: id })).json.output[0])
    // A summary of a summary.
    scene.says(['AGAIN'])
    const again = await compact({ input: [item, user('More.')] })
    expect(again.status).toBe(200)
    expect(sent()).toMatch(/SUMMARY.*More\..*Summarise the conversation above/s)
    // The last one stands for all before it.
    scene.says(['ok'])
    await create({ store: false, input: [item, user('Passed over.'), again.json.output[0], user('What was it?')] })
    expect(sent()).toMatch(/AGAIN.*What was it\?/s)
    expect(sent()).not.toMatch(/SUMMARY|Passed over/)
  },
)

verifies('contract-32.compact-given', 'pictures are sent along; what cannot be summarised is refused', async () => {
  const url =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  scene.says(['SUMMARY'])
  expect((await compact({ input: [user([{ type: 'input_image', image_url: url }])] })).status).toBe(200)
  expect(sent()).toContain(url)
  const asked = scene.up.calls.length
  const refused = async (body: object) => {
    const { status, json } = await compact(body)
    return [status, json.error.param]
  }
  expect(await refused({ input: [] })).toEqual([400, 'input'])
  expect(await refused({ input: [{ type: 'function_call', call_id: 'a', name: 'b', arguments: '{}' }] })).toEqual([
    400,
    'input',
  ])
  const [item] = (await summarised()).output
  expect(scene.up.calls).toHaveLength(asked + 1)
  scene.says(['ok'])
  const { id, conversation } = (await create({ input: 'one' })).json
  for (const place of [{ previous_response_id: id }, { conversation: conversation.id }]) {
    const { status, json } = await create({ ...place, input: [item, user('x')] })
    expect([status, json.error.param]).toEqual([400, 'input'])
  }
  scene.up.next((call) => call.error(400, { error: { message: 'No.' } }))
  expect((await compact({ input: 'x' })).status).toBe(500)
  const secret = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ada' })).json.value
  const beginning = await create({ input: [item, user('x')] }, { authorization: `Bearer ${secret}` })
  expect(beginning.status).toBe(403)
  const by = await scene.call(
    'POST',
    `${scene.responses}/compact`,
    { input: 'x' },
    { authorization: `Bearer ${secret}` },
  )
  expect(by.status).toBe(403)
})
