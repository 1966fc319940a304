/** Instructions on the Responses API (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { storedMessages } from '../../scene.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: {}, system: 'Be brief.' })
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const take = (callerInstructions: string | null) => scene.call('PUT', scene.agent, { callerInstructions })
const sent = () => scene.up.calls.at(-1)?.body.messages
const prompt = (content: string) => ({ role: 'system', content })
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]

verifies(
  'contract-32.instructions',
  'a new agent appends them to its prompt, for that request alone, and repeats the field',
  async () => {
    scene.says(['ok'])
    const developer = { role: 'developer', content: 'In French.' }
    const input = [developer, { role: 'user', content: 'Hi' }]
    const first = (await create({ instructions: 'Rhyme.', input })).json
    expect([first.instructions, sent()]).toEqual([
      'Rhyme.',
      [prompt('Be brief.\n\nRhyme.\n\nIn French.'), { role: 'user', content: 'Hi' }],
    ])
    const second = (await create({ input: 'More', previous_response_id: first.id })).json
    expect([second.instructions, sent()[0]]).toEqual([null, prompt('Be brief.')])
    const third = { input: 'Again', previous_response_id: second.id, instructions: 'Shout.' }
    await create(third)
    expect(sent()[0]).toEqual(prompt('Be brief.\n\nShout.'))
    const stateless = (await create({ input: 'Hi', instructions: 'Rhyme.', store: false })).json
    expect([stateless.instructions, sent()[0]]).toEqual(['Rhyme.', prompt('Be brief.\n\nRhyme.')])
    const stored = await scene.messages(sessionOf(first.conversation.id))
    expect(stored.map(({ content }) => content)).toEqual(['Hi', 'ok', 'More', 'ok', 'Again', 'ok'])
  },
)

verifies('contract-32.instructions', 'they stand beside outputs of calls, and in a queued message', async () => {
  scene.up.next(async (one) => {
    await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
    await one.finish('tool_calls')
  })
  const asked = (await create({ input: 'Look', tools })).json
  const running = scene.byHand()
  const output = { type: 'function_call_output', call_id: asked.output[0].call_id, output: 'seen' }
  const follows = { input: [output], previous_response_id: asked.id, instructions: 'Shout.', background: true }
  const decided = (await create(follows)).json
  const one = await running
  expect(sent()[0]).toEqual(prompt('Be brief.\n\nShout.'))
  const next = { input: 'Next', conversation: decided.conversation, on_busy: 'enqueue', instructions: 'Whisper.' }
  const queued = (await create({ ...next, background: true })).json
  expect(queued.status).toBe('queued')
  scene.says(['ok'])
  await one.finish('stop')
  await expect
    .poll(async () => (await scene.call('GET', `${scene.responses}/${queued.id}`)).json.status)
    .toBe('completed')
  expect(sent()[0]).toEqual(prompt('Be brief.\n\nWhisper.'))
})

verifies('contract-32.instructions', 'other APIs refuse them, and refuse refuses them everywhere', async () => {
  scene.says(['ok'])
  const before = await storedMessages(scene.app)
  const messages = [
    { role: 'system', content: 'x' },
    { role: 'user', content: 'Hi' },
  ]
  expect((await scene.stateless(messages)).status).toBe(400)
  expect((await scene.call('GET', scene.agent)).json.callerInstructions).toBe('responses')
  expect((await take('refuse')).json.callerInstructions).toBe('refuse')
  for (const store of [true, false]) {
    const { status, json } = await create({ input: 'Hi', instructions: 'x', store })
    expect([status, json.error.param]).toEqual([400, 'instructions'])
  }
  expect((await take(null)).json.callerInstructions).toBe('responses')
  const exported = (await scene.call('GET', '/api/v1/export')).json
  await take('append')
  expect((await scene.call('POST', '/api/v1/import', exported)).status).toBe(200)
  expect((await scene.call('GET', scene.agent)).json.callerInstructions).toBe('responses')
  expect(await storedMessages(scene.app)).toBe(before)
})

verifies('contract-32.instructions', 'absent in a PUT, or in an import onto the agent, the field stays', async () => {
  await take('append')
  const rule = async () => (await scene.call('GET', scene.agent)).json.callerInstructions
  expect((await scene.call('PUT', scene.agent, { model: 'test-model' })).status).toBe(200)
  expect(await rule()).toBe('append')
  const exported = (await scene.call('GET', '/api/v1/export')).json
  for (const agent of exported.agents) {
    delete agent.callerInstructions
    agent.model = 'another-model' // what changes nothing is not looked at
  }
  expect((await scene.call('POST', '/api/v1/import', exported)).status).toBe(200)
  expect(await rule()).toBe('append')
  await take(null)
})

verifies('contract-32.secret-instructions', 'a client secret sends them where the agent appends', async () => {
  scene.says(['ok'])
  const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ada' })).json
  const bearer = { authorization: `Bearer ${value}` }
  const before = await storedMessages(scene.app)
  const refused = await create({ input: 'Hi', instructions: 'Rhyme.' }, bearer)
  expect([refused.status, refused.json.error.param, await storedMessages(scene.app)]).toEqual([
    403,
    'instructions',
    before,
  ])
  await take('append')
  expect((await create({ input: 'Hi', instructions: 'Rhyme.' }, bearer)).status).toBe(200)
  expect(sent()[0]).toEqual(prompt('Be brief.\n\nRhyme.'))
  await take('responses')
})
