/** One message item for each model turn (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import type { OutputItem } from '../../../../src/http/wires/responses/output/response-object.ts'
import { verifies } from '../../../verifies.ts'
import { eventFaults } from './open-responses.ts'
import { packageFaults } from './openai-events.ts'
import { eventsOf, openResponsesScene, sessionOf, wholeStream } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create, client } = scene
await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'] })
afterAll(scene.close)
afterEach(() => scene.up.forget())

/** Two turns that call the agent's tool, each with a sentence before, and an answer. */
function speaks(answer: string): void {
  let turn = 0
  scene.up.always(async (one) => {
    turn += 1
    if (turn > 2) {
      await one.text(answer)
      return one.finish('stop')
    }
    await one.text(`Look ${turn}. `)
    await one.delta({ reasoning_content: 'hm' })
    await one.text('Now.')
    await one.toolCall({ name: 'current_time', arguments: '{}', id: `c${turn}` })
    await one.finish('tool_calls')
  })
}

const spoken = (items: readonly OutputItem[]) =>
  items.flatMap((item) => (item.type === 'message' ? [[item.content[0]?.text, item.phase, item.status]] : []))
const turns = [
  ['Look 1. Now.', 'commentary', 'completed'],
  ['Look 2. Now.', 'commentary', 'completed'],
  ['Done.', 'final_answer', 'completed'],
]

verifies('contract-32.turns', 'each turn with text is a message with its phase, in every reading', async () => {
  speaks('Done.')
  const events = await wholeStream(await scene.stream({ input: 'Go' }))
  expect([...events.flatMap(eventFaults), ...events.flatMap(packageFaults)]).toEqual([])
  const { response } = events.at(-1) ?? { response: null }
  expect(spoken(response.output)).toEqual(turns)
  const done = events.filter(({ type, item }) => type === 'response.output_item.done' && item.type === 'message')
  expect(spoken(done.map(({ item }) => item))).toEqual(turns)
  expect(response.output[0].id).toBe(response.id.replace('resp_', 'msg_'))
  expect((await scene.call('GET', `${scene.responses}/${response.id}`)).json).toEqual(response)
  const items = await scene.call('GET', `${scene.conversations}/${response.conversation.id}/items?order=asc`)
  expect(items.json.data.slice(1)).toEqual(response.output)
  const again = await scene.follow(response.id)
  await again.rest()
  expect(eventsOf(again)).toEqual(events)
  speaks('Done.')
  const stateless = (await create({ input: 'Go', store: false })).json
  expect(spoken(stateless.output)).toEqual(turns)
})

verifies('contract-32.turns', 'a reply of another API has them too, and one of before keeps its events', async () => {
  speaks('Done.')
  const session = await scene.newSession()
  await scene.send(session, 'Go')
  const [, reply] = await scene.messages(session)
  const read = async () => (await scene.call('GET', `${scene.responses}/${reply.id}`)).json
  expect(spoken((await read()).output)).toEqual(turns)
  await scene.app.sql`update messages set facts = facts - 'encoder' where id = ${reply.id}`
  expect(spoken((await read()).output).map(([text]) => text)).toEqual([turns.map(([text]) => text).join('')])
})

verifies(
  'contract-32.turns',
  'a turn that calls the caller’s tool is commentary, and what follows has its own items',
  async () => {
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
    scene.up.next(async (one) => {
      await one.text('Wait.')
      await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
      await one.finish('tool_calls')
    })
    const asked = (await create({ input: 'Go', tools })).json
    expect(spoken(asked.output)).toEqual([['Wait.', 'commentary', 'completed']])
    scene.says(['Done.'])
    const output = { type: 'function_call_output', call_id: asked.output.at(-1).call_id, output: '1' }
    const next = (await create({ input: [output], previous_response_id: asked.id })).json
    expect(spoken(next.output)).toEqual([['Done.', undefined, 'completed']])
    const said = (await scene.messages(sessionOf(asked.conversation.id))).map(({ content }) => content)
    expect(said).toEqual(['Go', 'Wait.', 'Done.'])
  },
)

verifies(['contract-32.turns', 'contract-32.parse'], 'parse works behind a sentence', async () => {
  speaks('{"n":1}')
  const format = { type: 'json_schema' as const, name: 'it', schema: { type: 'object' } }
  const parsed = await client.responses.parse({ model: 'any', input: 'Go', text: { format } })
  expect(parsed.output_parsed).toEqual({ n: 1 })
})
