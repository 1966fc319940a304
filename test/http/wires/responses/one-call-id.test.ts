/** Contract section 35: a waiting call has one `call_id` on every surface. */
import { afterAll, expect } from 'vitest'
import { call, openWaitingScene } from '../../../features/approvals/routes/waiting-scene.ts'
import { verifies } from '../../../verifies.ts'
import { asks } from '../../tool-scene.ts'
import { sessionOf } from './responses-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const create = (body: object) => scene.call('POST', `${scene.agent}/deploy/responses`, body)
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]

verifies('contract-35.one-call-id', 'a waiting call has one id, on every surface and for the model', async () => {
  scene.up.next(asks('', call('weather', 'same-id', '{"city":"Bonn"}')))
  const { output, conversation } = (await create({ input: 'Weather?', tools })).json
  const { call_id } = output[0]
  const session = sessionOf(conversation.id)
  const { pending } = (await scene.call('GET', `${scene.sessions}/${session}`)).json
  expect(pending).toMatchObject([{ call_id, name: 'weather' }])
  expect((await scene.shown(session))[1].toolCalls).toMatchObject([{ id: call_id }])
  scene.says('Sunny.')
  const decided = await scene.decide(session, [{ call_id, decision: 'respond', output: 'sun' }])
  expect(decided.status).toBe(200)
  const [asked, told] = scene.up.calls.at(-1)?.body.messages.slice(-2) ?? []
  expect([asked.tool_calls[0].id, told.tool_call_id]).toEqual([call_id, call_id])
})

verifies(
  'contract-35.one-call-id',
  'a call of a reply that began on another surface keeps its id on this one',
  async () => {
    scene.up.next(asks('', call('weather', 'given-by-the-model', '{"city":"Bonn"}')))
    const session = await scene.newSession()
    const functions = tools.map(({ type, ...named }) => ({ type, function: named }))
    await scene.send(session, 'Weather?', { tools: functions })
    const conversation = `conv_${session.replaceAll('-', '')}`
    const items = async () =>
      (await scene.call('GET', `${scene.agent}/deploy/conversations/${conversation}/items?order=asc`)).json.data
    const { pending } = (await scene.call('GET', `${scene.sessions}/${session}`)).json
    const [, asked] = await items()
    expect(asked).toMatchObject({ type: 'function_call', call_id: pending[0].call_id, name: 'weather' })
    scene.says('Sunny.')
    const { call_id } = asked
    const decided = await create({ conversation, input: [{ type: 'function_call_output', call_id, output: 'sun' }] })
    expect([decided.status, decided.json.output?.at(-1).content[0].text]).toEqual([200, 'Sunny.'])
    expect((await items())[2]).toMatchObject({ type: 'function_call_output', call_id, output: 'sun' })
  },
)
