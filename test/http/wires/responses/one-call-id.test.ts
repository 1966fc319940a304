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
