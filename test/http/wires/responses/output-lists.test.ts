/** Contract section 32: outputs of calls that are lists, with pictures and files. */
import { afterAll, expect } from 'vitest'
import { call, openWaitingScene } from '../../../features/approvals/routes/waiting-scene.ts'
import { dataUrl, png } from '../../../features/parts/routes/parts-scene.ts'
import { createAgent } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'
import { asks } from '../../tool-scene.ts'
import { sessionOf } from './responses-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { up } = scene
const deploy = `${scene.agent}/deploy`
const responses = `${deploy}/responses`
const create = (body: object) => scene.call('POST', responses, body)
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
const picture = dataUrl('image/png', png())
const list = [
  { type: 'input_text', text: 'before ' },
  { type: 'input_image', image_url: picture },
  { type: 'input_text', text: 'after' },
]
const outputOf = (call_id: string, output: unknown = list) => ({ type: 'function_call_output', call_id, output })
const history = [
  { role: 'user', content: 'one' },
  { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
  outputOf('c1'),
]
const named = (id: string) => ({
  role: 'user',
  content: [
    { type: 'text', text: `[The output of the call ${id} of weather:]` },
    { type: 'image_url', image_url: { url: picture } },
  ],
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'before after' })
const sent = () => up.calls.at(-1)?.body.messages.slice(-2)
const items = async (id: string) =>
  (await scene.call('GET', `${deploy}/conversations/${id}/items?order=asc`)).json.data.filter(
    ({ type }: { type: string }) => type === 'function_call_output',
  )
const shown = [
  { type: 'input_text', text: 'before ' },
  { type: 'input_image', image_url: expect.stringContaining('/parts/'), detail: 'auto' },
  { type: 'input_text', text: 'after' },
]

verifies('contract-32.output-lists', 'an answered call’s list reaches this reply, and the later ones', async () => {
  up.next(asks('', call('weather', 'c1', '{}')))
  const first = (await create({ input: 'Look!', tools })).json
  const { call_id } = first.output[0]
  up.next(asks('', call('weather', 'c2', '{}')))
  const second = (await create({ input: [outputOf(call_id)], previous_response_id: first.id, tools })).json
  const seen = [result(call_id), named(call_id)]
  expect(sent()).toEqual(seen)
  const brought = (await scene.call('GET', `${responses}/${second.id}/input_items`)).json.data
  expect(brought).toEqual([expect.objectContaining({ type: 'function_call_output', call_id, output: shown })])
  const bytes = await fetch(`${scene.app.url}${brought[0].output[1].image_url}`)
  expect(Buffer.from(await bytes.arrayBuffer()).equals(png())).toBe(true)
  scene.says('Done.')
  const third = (await create({ input: [outputOf(second.output[0].call_id, 'text')] })).json
  expect(up.calls.at(-1)?.body.messages.slice(-4)).toMatchObject([...seen, {}, { content: 'text' }])
  scene.says('Later.')
  await create({ input: 'More', previous_response_id: third.id })
  expect(up.calls.at(-1)?.body.messages).toEqual(expect.arrayContaining(seen))
  expect((await items(first.conversation.id)).map(({ output }: { output: unknown }) => output)).toEqual([shown, 'text'])
  const [kept] = await scene.app.sql<{ counted: number }[]>`
    select (session_bytes(id) = bytes)::int as counted from sessions where id = ${sessionOf(first.conversation.id)}`
  expect(kept?.counted).toBe(1)
})

verifies('contract-32.output-lists', 'a list beside a new message reaches the model with its call', async () => {
  up.next(asks('', call('weather', 'c1', '{}')))
  const first = (await create({ input: 'Look!', tools })).json
  scene.says('Done.')
  const { call_id } = first.output[0]
  const second = await create({
    input: [outputOf(call_id), { role: 'user', content: 'and now?' }],
    previous_response_id: first.id,
  })
  expect(second.status).toBe(200)
  expect(up.calls.at(-1)?.body.messages.slice(-3)).toEqual([
    result(call_id),
    named(call_id),
    { role: 'user', content: 'and now?' },
  ])
})

verifies(
  ['contract-24.conversations', 'contract-32.items-taken'],
  'an output beside a message is listed behind its call, and taken back with it',
  async () => {
    up.next(asks('Looking.', call('weather', 'c1', '{}')))
    const first = (await create({ input: 'Look!', tools })).json
    scene.says('Done.')
    const { call_id } = first.output[1]
    const input = [outputOf(call_id), { role: 'user', content: 'and now?' }]
    const second = (await create({ input, previous_response_id: first.id })).json
    const brought = (await scene.call('GET', `${responses}/${second.id}/input_items?order=asc`)).json.data
    expect(brought).toMatchObject([{ call_id, output: shown }, { role: 'user' }])
    const of = `${deploy}/conversations/${first.conversation.id}/items`
    const typesOf = async () =>
      (await scene.call('GET', `${of}?order=asc`)).json.data.map(({ type }: { type: string }) => type)
    const whole = ['message', 'message', 'function_call', 'function_call_output', 'message', 'message']
    expect(await typesOf()).toEqual(whole)
    scene.says('Again.')
    const again = await create({
      input: [
        { role: 'user', content: 'Look!' },
        ...first.output,
        ...input,
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'x' },
      ],
    })
    expect([again.status, again.json.conversation]).toEqual([200, first.conversation])
    const lastOf = async () => (await scene.call('GET', `${of}?limit=1`)).json.data[0].id
    for (const left of [5, 4].map((n) => [...whole, 'message', 'message'].slice(0, n + 2))) {
      expect((await scene.call('DELETE', `${of}/${await lastOf()}`)).status).toBe(200)
      expect(await typesOf()).toEqual(left)
    }
    for (const left of [5, 4, 2].map((n) => whole.slice(0, n))) {
      expect((await scene.call('DELETE', `${of}/${await lastOf()}`)).status).toBe(200)
      expect(await typesOf()).toEqual(left)
    }
  },
)

verifies('contract-32.output-lists', 'a history’s lists are stored, or sent alone where nothing is', async () => {
  for (const store of [true, false]) {
    scene.says('Done.')
    const made = await create({ input: history, store, tools })
    expect([store, made.status]).toEqual([store, 200])
    expect(sent()).toEqual([result('c1'), named('c1')])
    if (store) expect(await items(made.json.conversation.id)).toMatchObject([{ call_id: 'c1', output: shown }])
  }
})

verifies('contract-32.output-lists', 'items of a conversation hold lists; the parts go with their call', async () => {
  const conversations = `${deploy}/conversations`
  const { id } = (await scene.call('POST', conversations, { items: history })).json
  const given = await scene.call('POST', `${conversations}/${id}/items`, { items: history })
  expect(given.json.data[2].output).toEqual(shown)
  await scene.call('DELETE', `${conversations}/${id}/items/${given.json.data[2].id}`)
  scene.says('Done.')
  await create({ input: 'More', conversation: id })
  expect(up.calls.at(-1)?.body.messages).toEqual(expect.arrayContaining([result('c1'), named('c1')]))
  const [left] = await scene.app.sql<{ n: number }[]>`
    select count(*)::int as n from message_parts where session_id = ${sessionOf(id)}`
  expect(left?.n).toBe(1)
})

verifies('contract-32.output-lists', 'a provider that takes no such part: 400', async () => {
  const wrong = await create({ input: [...history.slice(0, 2), outputOf('c1', [{ type: 'output_audio' }])] })
  expect([wrong.status, wrong.json.error.param]).toEqual([400, 'input.2.output.0.type'])
  const { agentId } = await createAgent(scene.app, { type: 'mistral', baseUrl: up.url, name: 'No room' })
  for (const store of [true, false]) {
    const refused = await scene.call('POST', `/api/v1/agents/${agentId}/deploy/responses`, { input: history, store })
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      expect.stringContaining('does not take pictures and files in outputs of calls'),
    ])
  }
})

verifies('contract-31.share-opens', 'a share opens no picture of an output', async () => {
  const { id } = (await scene.call('POST', `${deploy}/conversations`, { items: history })).json
  const [{ output }] = await items(id)
  const shares = `${deploy}/sessions/${sessionOf(id)}/shares`
  const { token } = (await scene.call('POST', shares, { include: ['tools'] })).json
  const statusOf = async (query: string) => (await fetch(`${scene.app.url}${output[1].image_url}${query}`)).status
  expect([await statusOf(''), await statusOf(`?access_token=${token}`)]).toEqual([200, 404])
})
