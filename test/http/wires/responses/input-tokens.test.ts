/** `POST …/responses/input_tokens` (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import { startReceiver } from '../../../support/network/receiver.ts'
import { verifies } from '../../../verifies.ts'
import { storedMessages } from '../../scene.ts'
import { openResponsesScene } from './responses-scene.ts'

const scene = await openResponsesScene({ system: 'Be brief.' })
const { create, client } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const count = (body: object = {}, headers: Record<string, string> = {}) =>
  scene.call('POST', `${scene.responses}/input_tokens`, body, headers)
const tokens = async (body: object = {}): Promise<number> => {
  const { status, json } = await count(body)
  expect([status, json.object, json.estimated]).toEqual([200, 'response.input_tokens', true])
  return json.input_tokens
}
const words = (n: number) => 'word '.repeat(n)
const tools = [
  { type: 'function', name: 'look', description: words(100), parameters: { type: 'object', properties: {} } },
]

verifies('contract-32.input-tokens', 'prompt, instructions, tools, history, items and parts all count', async () => {
  scene.says([words(200)])
  const none = await tokens()
  expect(none).toBeGreaterThan(1)
  const more = async (body: object, than: number) => (await tokens(body)) - than
  expect(await more({ input: words(100) }, none)).toBeGreaterThan(90)
  expect(await more({ instructions: words(100) }, none)).toBeGreaterThan(90)
  expect(await more({ tools }, none)).toBeGreaterThan(90)
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
  expect(await more({ input: [{ role: 'user', content: [image] }] }, none)).toBeGreaterThan(900)
  const history = [
    { role: 'user', content: words(50) },
    { role: 'assistant', content: words(50) },
    { role: 'user', content: 'x' },
  ]
  for (const store of [true, false]) expect(await more({ input: history, store }, none)).toBeGreaterThan(90)
  const first = (await create({ input: 'Hi' })).json
  for (const place of [
    { previous_response_id: first.id },
    { conversation: first.conversation },
    { conversation: first.conversation, input: 'x' },
  ]) {
    expect(await more(place, none)).toBeGreaterThan(180)
  }
  const shown = { conversation: first.conversation, input: [{ role: 'user', content: [image] }] }
  expect(await more(shown, none)).toBeGreaterThan(900)
  expect(await more({ input: [...first.output, { role: 'user', content: 'x' }] }, none)).toBeGreaterThan(180)
  expect((await client.responses.inputTokens.count({ input: 'Hi' })).input_tokens).toBeGreaterThan(none)
  const take = (builtInToolIds: string[]) => scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds })
  expect((await take(['current_time'])).status).toBe(200)
  expect(await more({}, none)).toBeGreaterThan(10)
  await take([])
})

verifies(
  'contract-32.input-tokens',
  'of a longer history what is sent counts, up to the budget of the agent',
  async () => {
    const limit = (historyMaxTokens: number | null) => scene.call('PUT', scene.agent, { historyMaxTokens })
    scene.says([words(600)])
    const { conversation } = (await create({ input: 'first' })).json
    await create({ input: 'second', conversation })
    const history = ['first', 'second'].flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: words(600) },
    ])
    for (const place of [
      { conversation },
      { conversation, input: 'third' },
      { input: [...history, { role: 'user', content: 'third' }] },
      { input: [...history, { role: 'user', content: 'third' }], store: false },
    ]) {
      await limit(null)
      expect(await tokens(place)).toBeGreaterThan(1200)
      await limit(1000)
      expect(await tokens(place)).toBeLessThan(1000)
      expect(await tokens(place)).toBeGreaterThan(600)
    }
    await limit(null)
  },
)

verifies('contract-32.input-tokens', 'outputs of calls that wait count with their turn', async () => {
  scene.up.next(async (one) => {
    await one.toolCall({ name: 'look', arguments: `{"q":"${words(100)}"}`, id: 'c1' })
    await one.finish('tool_calls')
  })
  const asked = (await create({ input: 'Go', tools })).json
  const output = { type: 'function_call_output', call_id: asked.output[0].call_id, output: words(100) }
  const counted = await tokens({ input: [output], previous_response_id: asked.id })
  expect(counted - (await tokens({ input: 'Go' }))).toBeGreaterThan(180)
})

verifies(
  'contract-32.input-tokens',
  'it asks no model, stores nothing, and refuses what a response refuses',
  async () => {
    const calls = scene.up.calls.length
    const before = await storedMessages(scene.app)
    const refused: [object, number][] = [
      [{ input: 5 }, 400],
      [{ input: 'x', top_logprobs: 2 }, 400],
      [{ input: 'x', previous_response_id: 'resp_x' }, 400],
      [{ previous_response_id: 'resp_x' }, 400],
      [{ conversation: 'conv_x' }, 404],
      [{ input: [{ role: 'assistant', content: 'x' }] }, 400],
      [{ input: 'x', store: false, conversation: 'x' }, 400],
    ]
    for (const [body, status] of refused) expect([body, (await count(body)).status]).toEqual([body, status])
    await using server = await startReceiver()
    const mcp = { name: 'm', transport: 'streamable_http', url: `${server.url}/mcp` }
    const mcpServerId = (await scene.call('POST', '/api/v1/mcp-servers', mcp)).json.id
    const take = (mcpServers: object[]) => scene.call('PUT', `${scene.agent}/tools`, { mcpServers })
    expect((await take([{ mcpServerId, toolNames: ['*'] }])).status).toBe(200)
    await tokens({ input: 'Hi' })
    expect(server.received).toEqual([])
    await take([])
    expect([scene.up.calls.length, await storedMessages(scene.app)]).toEqual([calls, before])
    const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ada' })).json
    const bearer = { authorization: `Bearer ${value}` }
    scene.says(['ok'])
    const foreign = (await create({ input: 'Hi', user: 'bob' })).json
    expect((await count({ previous_response_id: foreign.id }, bearer)).status).toBe(400)
    const own = (await create({ input: 'Hi' }, bearer)).json
    expect((await count({ previous_response_id: own.id }, bearer)).status).toBe(200)
  },
)
