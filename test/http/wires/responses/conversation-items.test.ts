/** Items of a conversation: given, read, taken back (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { nobody } from '../../scene.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: {} })
const { create, client } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

interface Item {
  id: string
  type: string
  role?: string
  content?: { text: string }[]
  output?: string
}

const user = (content: string) => ({ type: 'message' as const, role: 'user' as const, content })
const said = (content: string) => ({ type: 'message', role: 'assistant', content })
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })
const output = (call_id: string, text: string) => ({ type: 'function_call_output', call_id, output: text })
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
const make = async (items: object[] = []) => (await scene.call('POST', scene.conversations, { items })).json.id
const give = (id: string, items: unknown, headers: Record<string, string> = {}) =>
  scene.call('POST', `${scene.conversations}/${id}/items`, { items }, headers)
const list = async (id: string): Promise<Item[]> =>
  (await scene.call('GET', `${scene.conversations}/${id}/items?order=asc&limit=100`)).json.data
const take = (id: string, item: string) => scene.call('DELETE', `${scene.conversations}/${id}/items/${item}`)
const shown = (items: Item[]) =>
  items.map(({ type, role, content, output: text }) =>
    type === 'message' ? `${role}: ${content?.[0]?.text}` : (text ?? type),
  )
const sent = () =>
  scene.up.calls
    .at(-1)
    ?.body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`)

verifies('contract-32.items', 'items are put behind the head, in order, and the next reply sees them', async () => {
  scene.says(['ok'])
  const first = (await create({ input: 'one' })).json
  const id = first.conversation.id
  const usage = async () => (await scene.call('GET', '/api/v1/usage')).json.rows
  const before = await usage()
  const given = await give(id, [user('two'), said('a'), call('c1'), output('c1', 'seen'), said('b'), user('three')])
  expect([given.status, given.json.object, given.json.has_more]).toEqual([200, 'list', false])
  const added = ['user: two', 'assistant: a', 'function_call', 'seen', 'assistant: b', 'user: three']
  expect(shown(given.json.data)).toEqual(added)
  const all = await list(id)
  expect(all.slice(2)).toEqual(given.json.data)
  expect(shown(all)).toEqual(['user: one', 'assistant: ok', ...added])
  expect(await usage()).toEqual(before)
  for (const item of all)
    expect((await scene.call('GET', `${scene.conversations}/${id}/items/${item.id}`)).json).toEqual(item)
  const [theirs] = all.filter(({ content }) => content?.[0]?.text === 'a')
  const behindGiven = await create({ input: 'x', previous_response_id: theirs?.id.replace('msg_', 'resp_') })
  expect([behindGiven.status, behindGiven.json.error.code]).toEqual([400, 'previous_response_not_found'])
  const next = await create({ input: 'four', conversation: id })
  expect(next.status).toBe(200)
  expect(sent()).toEqual([
    ...['user: one', 'assistant: ok', 'user: two', 'assistant: a', 'tool: seen', 'assistant: b', 'user: three\n\nfour'],
  ])
  const again = await create({ input: 'five', previous_response_id: next.json.id })
  expect([again.status, again.json.previous_response_id]).toEqual([200, next.json.id])
  // Behind an earlier response they are another branch.
  await create({ input: 'else', previous_response_id: first.id })
  await give(id, [said('branch')])
  expect(shown(await list(id))).toEqual([
    'user: one',
    'assistant: ok',
    'user: else',
    'assistant: ok',
    'assistant: branch',
  ])
  await create({ input: 'on', conversation: id })
  expect(sent()).toEqual(['user: one', 'assistant: ok', 'user: else', 'assistant: ok\n\nbranch', 'user: on'])
})

verifies('contract-32.items', 'a title comes from them, and what is wrong stores nothing', async () => {
  const id = await make()
  const session = async () => (await scene.call('GET', `${scene.sessions}/${sessionOf(id)}`)).json
  const made = await session()
  await give(id, [user('Which way?')])
  const { title, updated_at } = await session()
  expect(title).toBe('Which way?')
  expect(updated_at > made.updated_at).toBe(true)
  const before = await list(id)
  const wrong: [unknown, RegExp][] = [
    [[], /items/],
    [Array(1001).fill(user('x')), /1000/],
    [Array(1001).fill(said('x')), /at most 1000/], // which would be one message
    ['x', /items/],
    [undefined, /items/],
    [[{ role: 'system', content: 'x' }], /^items\.0\.role: send/],
    [[call('c1')], /no output/],
    [[output('c1', 'x')], /no open call/],
    [[{ type: 'item_reference', id: 'msg_x' }], /no such item/],
  ]
  for (const [items, words] of wrong) {
    const { status, json } = await give(id, items)
    expect([items, status, json.error?.message]).toEqual([items, 400, expect.stringMatching(words)])
  }
  expect(await list(id)).toEqual(before)
  expect((await give(`conv_${nobody.replaceAll('-', '')}`, [user('x')])).status).toBe(404)
  const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ada' })).json
  const bearer = { authorization: `Bearer ${value}` }
  const own = (await scene.call('POST', scene.conversations, {}, bearer)).json.id
  const refused = await give(own, [user('x')], bearer)
  expect(refused.status).toBe(403)
  scene.says(['ok'])
  await create({ input: 'x', conversation: own }, bearer)
  const takes = async (of: string) =>
    await scene.call('DELETE', `${scene.conversations}/${of}/items/${(await list(of)).at(-1)?.id}`, undefined, bearer)
  expect([(await takes(own)).status, (await takes(id)).status]).toEqual([200, 404])
  expect(shown(await list(own))).toEqual(['user: x'])
})

verifies('contract-32.items-held', 'while a reply runs or calls wait nothing is given or taken', async () => {
  const running = scene.byHand()
  const { json } = await create({ input: 'long', background: true, tools })
  const one = await running
  const id = json.conversation.id
  const refused = async () => {
    const [question] = await list(id)
    for (const answer of [await give(id, [user('x')]), await take(id, question?.id ?? '')]) {
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false'])
    }
  }
  await refused()
  await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
  await one.finish('tool_calls')
  await expect
    .poll(async () => (await scene.call('GET', `${scene.responses}/${json.id}`)).json.status)
    .toBe('completed')
  await refused()
})

verifies(
  'contract-32.items-repeated',
  'a retry stores nothing, and neither does a copy of what was answered here',
  async () => {
    scene.says(['ok'])
    const id = await make()
    const key = { 'idempotency-key': 'items' }
    const items = [user('one'), said('two')]
    const given = await give(id, items, key)
    expect((await give(id, items, key)).json).toEqual(given.json)
    expect((await give(id, [user('else')], key)).status).toBe(400)
    expect((await give(id, items, { 'x-stainless-retry-count': '1' })).json).toEqual(given.json)
    expect(await list(id)).toHaveLength(2)
    expect((await give(id, items)).json.data).toHaveLength(2)
    expect(await list(id)).toHaveLength(4)

    const response = (await create({ input: 'three', conversation: id })).json
    const copy = await give(id, [user('three'), ...response.output])
    expect(copy.json.data).toEqual((await list(id)).slice(-2))
    expect((await give(id, response.output)).json.data).toEqual(response.output)
    expect(await list(id)).toHaveLength(6)
    await give(id, [user('three'), said('other')])
    expect(await list(id)).toHaveLength(8)
  },
)

verifies(
  'contract-32.items-taken',
  'the last item goes, an output with its call, and the head moves back',
  async () => {
    const id = await make([
      user('one'),
      said('a'),
      call('c1'),
      call('c2'),
      output('c1', '1'),
      output('c2', '2'),
      said('b'),
    ])
    const items = await list(id)
    const followed = await take(id, items[2]?.id ?? '')
    expect([followed.status, followed.headers.get('x-should-retry')]).toEqual([409, 'false'])
    expect((await take(id, 'msg_unknown')).status).toBe(404)
    const left = async () => {
      const last = (await list(id)).at(-1)
      const taken = await take(id, last?.id ?? '')
      expect([taken.status, taken.json.id]).toEqual([200, id])
      return shown(await list(id))
    }
    expect(await left()).toEqual(['user: one', 'assistant: a', 'function_call', 'function_call', '1', '2'])
    expect(await left()).toEqual(['user: one', 'assistant: a', 'function_call', '1'])
    expect(await left()).toEqual(['user: one', 'assistant: a'])
    scene.says(['ok'])
    const next = (await create({ input: 'two', conversation: id })).json
    expect(sent()).toEqual(['user: one', 'assistant: a', 'user: two'])
    expect(await left()).toEqual(['user: one', 'assistant: a', 'user: two'])
    expect((await scene.call('GET', `${scene.responses}/${next.id}`)).status).toBe(404)
    expect(await left()).toEqual(['user: one', 'assistant: a'])
    expect(await left()).toEqual(['user: one'])
    expect(await left()).toEqual([])
    await create({ input: 'anew', conversation: id })
    expect(sent()).toEqual(['user: anew'])
  },
)

verifies('contract-32.items-taken', 'what is left of a reply is a given message, and its usage stays', async () => {
  scene.up.next(async (one) => {
    await one.text('Wait.')
    await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
    await one.finish('tool_calls')
  })
  const asked = (await create({ input: 'Go', tools })).json
  const id = asked.conversation.id
  scene.says(['Done.'])
  const answer = output(asked.output.at(-1).call_id, 'seen')
  const next = (await create({ input: [answer], previous_response_id: asked.id })).json
  const usage = async () => (await scene.call('GET', '/api/v1/usage')).json.rows
  const before = await usage()
  expect(before[0].replies).toBeGreaterThan(1)
  const pop = async () => {
    const last = (await list(id)).at(-1)
    expect((await take(id, last?.id ?? '')).status).toBe(200)
    return shown(await list(id))
  }
  expect(await pop()).toEqual(['user: Go', 'assistant: Wait.', 'function_call', 'seen'])
  expect((await scene.call('GET', `${scene.responses}/${next.id}`)).status).toBe(404)
  expect(await usage()).toEqual(before)
  await create({ input: 'More', conversation: id })
  expect(sent()).toEqual(['user: Go', 'assistant: Wait.', 'tool: seen', 'user: More'])
  expect([await pop(), await pop()].at(-1)).toEqual(['user: Go', 'assistant: Wait.', 'function_call', 'seen'])
  expect(await pop()).toEqual(['user: Go', 'assistant: Wait.'])
  expect((await scene.call('GET', `${scene.responses}/${asked.id}`)).status).toBe(404)
  await create({ input: 'Again', conversation: id })
  expect(sent()).toEqual(['user: Go', 'assistant: Wait.', 'user: Again'])
})

verifies('contract-32.items', 'the official client makes, reads and deletes them, also below openai', async () => {
  const { id } = await client.conversations.create({ items: [user('one')] })
  const made = await client.conversations.items.create(id, { items: [user('two')] })
  const [item] = made.data
  expect(await client.conversations.items.retrieve(item?.id ?? '', { conversation_id: id })).toEqual(item)
  expect((await client.conversations.items.delete(item?.id ?? '', { conversation_id: id })).id).toBe(id)
  const path = `/api/v1/openai/conversations/${id}/items`
  const below = await scene.call('POST', path, { items: [user('three')] })
  expect(shown(below.json.data)).toEqual(['user: three'])
  const [last] = below.json.data
  expect((await scene.call('GET', `${path}/${last.id}`)).json).toEqual(last)
  expect((await scene.call('DELETE', `${path}/${last.id}`)).status).toBe(200)
  expect(shown(await list(id))).toEqual(['user: one'])
})

verifies('contract-24.input-items', 'input_items lists all that its request brought', async () => {
  scene.says(['ok'])
  const made = (await create({ input: [user('one'), user('two'), call('c1'), output('c1', 'x'), user('three')] })).json
  const items = async (id: string) =>
    shown((await scene.call('GET', `${scene.responses}/${id}/input_items?order=asc`)).json.data)
  expect(await items(made.id)).toEqual(['user: one', 'user: two', 'function_call', 'x', 'user: three'])
  const next = (await create({ input: 'four', previous_response_id: made.id })).json
  expect(await items(next.id)).toEqual(['user: four'])
  const ended = (await create({ input: [user('one'), call('c1'), output('c1', 'x')] })).json
  expect(await items(ended.id)).toEqual(['user: one', 'function_call', 'x'])
})

verifies(
  'contract-24.by-model',
  'a conversation may name its agent, and another agent’s response is told whose it is',
  async () => {
    expect((await scene.call('POST', '/api/v1/openai/conversations', { model: scene.agentId })).status).toBe(200)
    const agent = { name: 'Other', providerId: scene.providerId, model: 'm' }
    const other = (await scene.call('POST', '/api/v1/agents', agent)).json.id
    scene.says(['ok'])
    const { id } = (await create({ input: 'Hi' })).json
    const elsewhere = { model: other, input: 'x', previous_response_id: id }
    const { status, json } = await scene.call('POST', '/api/v1/openai/responses', elsewhere)
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(scene.agentId)])
  },
)
