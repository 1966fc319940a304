/** Contract section 32: the pictures of outputs in exports, in the queue, and in retries. */
import { afterAll, expect } from 'vitest'
import { call, openWaitingScene } from '../../../features/approvals/routes/waiting-scene.ts'
import { dataUrl, png } from '../../../features/parts/routes/parts-scene.ts'
import { verifies } from '../../../verifies.ts'
import { asks } from '../../tool-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { up } = scene
const deploy = `${scene.agent}/deploy`
const responses = `${deploy}/responses`
const create = (body: object, headers = {}) => scene.call('POST', responses, body, headers)
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
const listOf = (side: number) => [
  { type: 'input_text', text: 'Seen: ' },
  { type: 'input_image', image_url: dataUrl('image/png', png({ width: side })) },
]
const outputOf = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output })
const shown = [
  { type: 'input_text', text: 'Seen: ' },
  { type: 'input_image', image_url: expect.stringContaining('/parts/'), detail: 'auto' },
]
const asked = async (more: object = {}) => {
  up.next(asks('', call('weather', 'c1', '{}')))
  const response = (await create({ input: 'Look!', tools, ...more })).json
  return { response, callId: response.output[0].call_id }
}

verifies(
  'contract-32.output-lists',
  'a user’s export shows outputs: as a list where they held more than text',
  async () => {
    const { response, callId } = await asked({ safety_identifier: 'ann' })
    up.next(asks('', call('weather', 'c2', '{}')))
    const again = await create({ input: [outputOf(callId, listOf(1))], previous_response_id: response.id, tools })
    const second = again.json.output[0].call_id
    scene.says('Done.')
    expect((await create({ input: [outputOf(second, 'Rain')], previous_response_id: again.json.id })).status).toBe(200)
    const history = [
      { role: 'user', content: 'one' },
      { type: 'function_call', call_id: 'g1', name: 'weather', arguments: '{}' },
      outputOf('g1', listOf(1)),
      { role: 'user', content: 'two' },
    ]
    scene.says('Done.')
    expect((await create({ input: history, safety_identifier: 'ann' })).json.error).toBe(null)
    const text = await (await fetch(`${scene.app.url}${deploy}/users/ann/export`)).text()
    const sessions = text
      .trimEnd()
      .split('\n')
      .map((line): { messages: { outputs?: object[] }[] } => JSON.parse(line))
    const outputs = sessions.map(({ messages }) => messages.flatMap((message) => message.outputs ?? []))
    expect(outputs).toEqual([
      [
        { call_id: callId, output: shown },
        { call_id: second, output: 'Rain' },
      ],
      [{ call_id: 'g1', output: shown }],
    ])
  },
)

verifies(
  'contract-32.output-lists',
  'the picture of an output that waits in the queue is none of its message',
  async () => {
    const { response, callId } = await asked()
    const place = { conversation: response.conversation.id }
    const input = [outputOf(callId, listOf(1)), { role: 'user', content: 'and now?' }]
    const queued = (await create({ input, ...place, on_busy: 'enqueue', background: true })).json
    expect(queued.status).toBe('queued')
    scene.says('Done.')
    scene.says('Then.')
    expect((await create({ input: [outputOf(callId, 'Rain')], previous_response_id: response.id })).status).toBe(200)
    const ended = async () => (await scene.call('GET', `${responses}/${queued.id}`)).json.status
    await expect.poll(ended).toBe('completed')
    expect(up.calls.at(-1)?.body.messages.at(-1)).toEqual({ role: 'user', content: 'and now?' })
    const brought = (await scene.call('GET', `${responses}/${queued.id}/input_items`)).json.data
    expect(brought).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'and now?' }] }])
  },
)

verifies('contract-32.output-lists', 'a retry of an output with another picture is a conflict', async () => {
  const { response, callId } = await asked()
  const running = scene.byHand()
  const send = (side: number, headers = {}) =>
    create({ input: [outputOf(callId, listOf(side))], previous_response_id: response.id, background: true }, headers)
  const first = (await send(1)).json
  const held = await running
  const retry = { 'x-stainless-retry-count': '1' }
  expect((await send(1, retry)).json.id).toBe(first.id)
  expect((await send(2, retry)).status).toBe(409)
  await held.finish('stop')
})
