/** Conversations below `/api/v1/openai` that are made without a model, as the official clients make them. */
import OpenAI from 'openai'
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: {} })
afterAll(scene.close)

const openai = '/api/v1/openai'
const client = new OpenAI({ baseURL: `${scene.app.url}${openai}`, apiKey: 'any', maxRetries: 0 })
/** A second agent, which the first test makes. */
let other = ''
const user = (content: string) => ({ type: 'message' as const, role: 'user' as const, content })
const said = async (id: string) => {
  const items = await client.conversations.items.list(id, { order: 'asc' })
  return items.data.map((item) => {
    const [part] = 'content' in item && Array.isArray(item.content) ? item.content : []
    return part && 'text' in part ? part.text : item.type
  })
}
const answerIn = async (conversation: string, model: string) =>
  await client.responses.create({ model, conversation, input: 'And now?' })

verifies('contract-24.by-model', 'a conversation without a model is one of the only agent', async () => {
  const { id } = await client.conversations.create({ metadata: { topic: 'one' } })
  expect((await scene.call('GET', `${scene.conversations}/${id}`)).json.metadata).toEqual({ topic: 'one' })
  const agent = { name: 'Other', providerId: scene.providerId, model: 'm' }
  other = (await scene.call('POST', '/api/v1/agents', agent)).json.id
})

verifies('contract-24.by-model', 'of several agents, that of its first response has the conversation', async () => {
  const made = await client.conversations.create({ items: [user('one')], metadata: { topic: 'two' } })
  expect(await client.conversations.retrieve(made.id)).toEqual(made)
  expect((await client.conversations.update(made.id, { metadata: { topic: 'three' } })).metadata).toEqual({
    topic: 'three',
  })
  const { data } = await client.conversations.items.create(made.id, { items: [user('two'), user('three')] })
  expect(await client.conversations.items.retrieve(data[0]?.id ?? '', { conversation_id: made.id })).toEqual(data[0])
  const early = await scene.call('DELETE', `${openai}/conversations/${made.id}/items/${data[0]?.id}`)
  expect([early.status, early.headers.get('x-should-retry')]).toEqual([409, 'false'])
  await client.conversations.items.delete(data[1]?.id ?? '', { conversation_id: made.id })
  expect(await said(made.id)).toEqual(['one', 'two'])
  const before = await client.conversations.items.list(made.id)

  scene.says(['Four.'])
  const response = await answerIn(made.id, other)
  expect(response.conversation?.id).toBe(made.id)
  expect(JSON.stringify(scene.up.calls.at(-1)?.body)).toMatch(/one.*two.*And now\?/)
  expect(await said(made.id)).toEqual(['one', 'two', 'And now?', 'Four.'])
  const after = await client.conversations.items.list(made.id, { order: 'asc' })
  expect(after.data.slice(0, 2)).toEqual(before.data.toReversed())
  expect(await client.conversations.retrieve(made.id)).toMatchObject({ metadata: { topic: 'three' } })
  await expect(answerIn(made.id, scene.agentId)).rejects.toMatchObject({ status: 404 })
})

verifies('contract-24.by-model', 'first responses of two agents at once: one has the conversation', async () => {
  const { id } = await client.conversations.create({ items: [user('one')] })
  scene.says(['ok'])
  const answers = await Promise.allSettled([answerIn(id, other), answerIn(id, scene.agentId)])
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await said(id)).toEqual(['one', 'And now?', 'ok'])
})

verifies('contract-24.by-model', 'what a conversation of no agent cannot hold is named', async () => {
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const shown = { role: 'user', content: [{ type: 'input_image', image_url: png }] }
  const made = await scene.call('POST', `${openai}/conversations`, { items: [shown] })
  expect([made.status, made.json.error.message]).toEqual([
    400,
    'items.0.content.0.image_url: pictures and files need an agent: send it as model',
  ])
  const { id } = await client.conversations.create()
  expect((await scene.call('GET', `${scene.conversations}/${id}`)).status).toBe(404)
  expect((await client.conversations.delete(id)).deleted).toBe(true)
  await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 })
  await expect(client.conversations.items.list(id)).rejects.toMatchObject({ status: 404 })
})

verifies('contract-24.by-model', 'a key of some agents must name one', async () => {
  const wanted = { name: 'Two', scopes: ['deploy'], agentIds: [scene.agentId, other] }
  const { key } = (await scene.call('POST', '/api/v1/keys', wanted)).json
  const made = await scene.call('POST', `${openai}/conversations`, {}, { authorization: `Bearer ${key}` })
  expect([made.status, made.json.error.message]).toEqual([400, expect.stringMatching(/^model: is required/)])
})
