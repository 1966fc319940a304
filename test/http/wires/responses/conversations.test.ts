/** Conversations, and taking back their last response (contract section 24). */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
afterAll(scene.close)
scene.says(['ok'])
const { client, create } = scene

const said = async (conversation: string) =>
  (await scene.messages(sessionOf(conversation))).map(({ role, content }) => `${role}: ${content}`)

verifies('contract-24.conversations', 'the official client makes, reads, changes and deletes one', async () => {
  const made = await client.conversations.create({ metadata: { topic: 'tea' } })
  expect(made).toEqual({
    id: expect.stringMatching(/^conv_[0-9a-f]{32}$/),
    object: 'conversation',
    created_at: expect.any(Number),
    metadata: { topic: 'tea' },
  })
  expect(await client.conversations.retrieve(made.id)).toEqual(made)
  const changed = await client.conversations.update(made.id, { metadata: { topic: 'milk' } })
  expect(changed).toEqual({ ...made, metadata: { topic: 'milk' } })
  await client.responses.create({ input: 'hi', conversation: made.id })
  expect(await said(made.id)).toEqual(['user: hi', 'assistant: ok'])
  expect(await client.conversations.delete(made.id)).toEqual({
    id: made.id,
    object: 'conversation.deleted',
    deleted: true,
  })
  const gone = await scene.call('GET', `${scene.conversations}/${made.id}`)
  expect([gone.status, gone.json.error.code]).toEqual([404, 'not_found'])
  expect((await scene.call('POST', scene.conversations)).status).toBe(200)
})

verifies(['contract-24.by-model', 'contract-24.conversations'], 'an id alone names a conversation', async () => {
  const openai = '/api/v1/openai/conversations'
  const made = (await scene.call('POST', openai, { model: scene.agentId, items: [{ role: 'user', content: 'one' }] }))
    .json
  expect((await scene.call('GET', `${openai}/${made.id}`)).json).toEqual(made)
  const changed = { ...made, metadata: { topic: 'milk' } }
  expect((await scene.call('POST', `${openai}/${made.id}`, { metadata: { topic: 'milk' } })).json).toEqual(changed)
  expect((await scene.call('GET', `${scene.conversations}/${made.id}`)).json).toEqual(changed)
  expect((await scene.call('GET', `${openai}/${made.id}/items`)).json.data).toMatchObject([{ role: 'user' }])
  expect((await scene.call('DELETE', `${openai}/${made.id}`)).json).toMatchObject({ id: made.id, deleted: true })
  expect((await scene.call('GET', `${openai}/${made.id}`)).status).toBe(404)
})

verifies('contract-25.unknown-fields', 'a field that a conversation does not have is named', async () => {
  const made = (await scene.call('POST', scene.conversations, {})).json
  const openai = '/api/v1/openai/conversations'
  for (const [path, body] of [
    [scene.conversations, { message: [] }],
    [`${scene.conversations}/${made.id}`, { metadata: {}, user: 'ada' }],
    [openai, { model: scene.agentId, user: 'ada' }],
    [`${openai}/${made.id}`, { metadata: {}, title: 'x' }],
  ] as const) {
    const { status, json } = await scene.call('POST', path, body)
    expect([path, status, json.error?.param]).toEqual([path, 400, Object.keys(body).at(-1)])
  }
})

verifies('contract-24.conversations', 'instructions that the agent does not take are refused', async () => {
  for (const role of ['system', 'developer']) {
    const items = [
      { role: 'user', content: 'one' },
      { role, content: 'Be brief.' },
    ]
    const { status, json } = await scene.call('POST', scene.conversations, { items })
    expect([role, status, json.error?.param]).toEqual([role, 400, 'items.1.role'])
  }
})

verifies('contract-24.conversations', 'its items are what was said, in pages', async () => {
  const items = [
    { role: 'user', content: 'one' },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'seen' },
    { role: 'assistant', content: 'two' },
  ]
  const made = (await scene.call('POST', scene.conversations, { items })).json
  const response = (await create({ input: 'three', conversation: made.id })).json
  const list = async (query = '') => (await scene.call('GET', `${scene.conversations}/${made.id}/items${query}`)).json
  const whole = await list('?order=asc')
  expect(whole).toMatchObject({ object: 'list', has_more: false })
  expect(whole.data.map(({ type, role }: { type: string; role?: string }) => role ?? type)).toEqual([
    'user',
    'function_call',
    'function_call_output',
    'assistant',
    'user',
    'assistant',
  ])
  expect(whole.data.at(-1)).toEqual(response.output[0])
  expect([whole.first_id, whole.last_id]).toEqual([whole.data[0].id, whole.data[5].id])
  expect((await list()).data).toEqual(whole.data.toReversed())
  const ids: string[] = []
  for await (const item of client.conversations.items.list(made.id, { limit: 2, order: 'asc' })) ids.push(item.id ?? '')
  expect(ids).toEqual(whole.data.map(({ id }: { id: string }) => id))
  const [first] = ids
  const bare = sessionOf((first ?? '').replace(/^msg_/, ''))
  expect((await list(`?order=asc&after=${bare}`)).data).toEqual(whole.data.slice(1))
  for (const wrong of ['limit=0', 'limit=101', 'order=up', 'after=msg_x']) {
    const answer = await scene.call('GET', `${scene.conversations}/${made.id}/items?${wrong}`)
    expect([wrong, answer.status, answer.json.error.type]).toEqual([wrong, 400, 'invalid_request_error'])
  }
})

verifies(
  'contract-24.conversations',
  'each item has an id of its own, also where a call’s id comes again',
  async () => {
    const again = (output: string) => [
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output },
    ]
    const items = [
      { role: 'user', content: 'one' },
      ...again('1'),
      ...again('2'),
      { role: 'assistant', content: 'two' },
    ]
    const made = (await scene.call('POST', scene.conversations, { items })).json
    const whole = (await scene.call('GET', `${scene.conversations}/${made.id}/items?order=asc`)).json
    const ids = whole.data.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(items.length)
    for (const [n, id] of ids.slice(0, -1).entries()) {
      const next = (await scene.call('GET', `${scene.conversations}/${made.id}/items?order=asc&limit=1&after=${id}`))
        .json
      expect(next.data).toEqual([whole.data[n + 1]])
    }
  },
)

verifies(['contract-24.conversations', 'contract-24.errors'], 'what is wrong with its items names items', async () => {
  const look = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
  const one = { role: 'user', content: 'one' }
  for (const items of [[one, look], [one, look, one], Array(1001).fill(one), 'text', {}, 5]) {
    const { status, json } = await scene.call('POST', scene.conversations, { items })
    expect([status, json.error?.param]).toEqual([400, 'items'])
  }
})

verifies('contract-24.delete', 'a response goes with its question, and the head moves back', async () => {
  const first = (await create({ input: 'one' })).json
  const second = (await create({ input: 'two', previous_response_id: first.id })).json
  const remove = (id: string) => scene.call('DELETE', `${scene.responses}/${id}`)
  const followed = await remove(first.id)
  expect([followed.status, followed.json.error.code]).toEqual([409, 'conflict'])
  const removed = await remove(second.id)
  expect([removed.status, removed.json]).toEqual([200, { id: second.id, object: 'response', deleted: true }])
  expect((await remove(second.id)).status).toBe(404)
  expect((await scene.call('GET', `${scene.responses}/${second.id}`)).status).toBe(404)
  expect(await said(first.conversation.id)).toEqual(['user: one', 'assistant: ok'])
  const third = (await create({ input: 'three', conversation: first.conversation })).json
  expect(third.previous_response_id).toBe(first.id)
  const branch = (await create({ input: 'four', previous_response_id: first.id })).json
  expect(await said(first.conversation.id)).toEqual(['user: one', 'assistant: ok', 'user: four', 'assistant: ok'])
  expect((await remove(branch.id)).status).toBe(200)
  expect(await said(first.conversation.id)).toEqual(['user: one', 'assistant: ok'])
  const fifth = (await create({ input: 'five', conversation: first.conversation })).json
  expect(fifth.previous_response_id).toBe(first.id)
  expect((await scene.call('GET', `${scene.responses}/${third.id}`)).json.status).toBe('completed')
  expect((await remove(fifth.id)).status).toBe(200)
  expect((await remove(third.id)).status).toBe(200)
  expect((await remove(first.id)).status).toBe(200)
  expect(await said(first.conversation.id)).toEqual([])
  const again = (await create({ input: 'anew', conversation: first.conversation })).json
  expect([again.previous_response_id, await said(first.conversation.id)]).toEqual([
    null,
    ['user: anew', 'assistant: ok'],
  ])
})

verifies('contract-24.delete', 'one that runs is 409', async () => {
  const running = scene.byHand()
  const { json } = await create({ input: 'long', background: true })
  await running
  const busy = await scene.call('DELETE', `${scene.responses}/${json.id}`)
  expect([busy.status, busy.json.error.code]).toEqual([409, 'conflict'])
  await scene.call('POST', `${scene.responses}/${json.id}/cancel`)
  expect((await scene.call('DELETE', `${scene.responses}/${json.id}`)).status).toBe(200)
})

verifies(
  'contract-32.given-calls',
  'a message of the assistant with 1,000 calls is taken, one with more is 400',
  async () => {
    const turn = (n: number) => [
      { type: 'function_call', call_id: `c${n}`, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${n}`, output: '' },
    ]
    const calls = Array.from({ length: 1000 }, (_, n) => turn(n)).flat()
    const make = (items: object[]) => scene.call('POST', scene.conversations, { items })
    const question = { role: 'user', content: 'Again?' }
    expect((await make([...calls, question, ...turn(1000)])).status).toBe(200)
    const refused = await make([...calls, ...turn(1000)])
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('more than 1000 calls')])
  },
)

verifies('contract-32.named-ids', 'an item marks the place when it is among the last 1,000', async () => {
  scene.says(['Known.'])
  const first = (await scene.create({ input: 'Hi' })).json
  scene.says(['Anew.'])
  const aside = { type: 'reasoning', summary: [] }
  const behind = async (count: number) => {
    const input = [...first.output, ...Array(count).fill(aside), { role: 'user', content: `after ${count}` }]
    return (await scene.create({ input })).json.conversation.id
  }
  expect(await behind(998)).toBe(first.conversation.id)
  expect(await behind(999)).not.toBe(first.conversation.id)
})
