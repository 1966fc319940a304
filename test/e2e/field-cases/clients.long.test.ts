/** Bodies that clients send back, and answers of webhooks' receivers, from reports of others' users (sections 32 and 35). */
import { expect } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import { newSession, postJson } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'
import { callsFor, openField, startServer } from './field.ts'

const field = await openField()
const { up, product, agent, deploy, make, chooses, ask, told } = field

const respond = async (body: object) => {
  const answered = await postJson(`${deploy}/responses`, body)
  return { status: answered.status, json: Object(await answered.json()) }
}

verifies('contract-32.ends-in-outputs', 'a history that ends in another server’s output is gone on with', async () => {
  up.next(says('It is 5.'))
  const input = [
    { type: 'message', role: 'user', content: 'How much?' },
    { type: 'function_call', call_id: 'call_x', name: 'price', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_x', output: '5' },
  ]
  const { status, json } = await respond({ input, store: true })
  expect([status, json.output?.at(-1).content[0].text]).toEqual([200, 'It is 5.'])
  expect(told()).toContain('5')
})

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

verifies('contract-32.ends-in-outputs', 'an output that is a list with a picture reaches the model', async () => {
  up.next(says('A dot.'))
  const input = [
    { type: 'message', role: 'user', content: 'What is shown?' },
    { type: 'function_call', call_id: 'call_y', name: 'look', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'call_y',
      output: [
        { type: 'input_text', text: 'One pixel.' },
        { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
      ],
    },
  ]
  expect((await respond({ input })).status).toBe(200)
  const sent = JSON.stringify(up.calls.at(-1)?.body.messages)
  expect([sent.includes('One pixel.'), sent.includes(pixel)]).toEqual([true, true])
})

verifies('contract-32.tool-choice', '`tool_choice: "none"` beside no tools is taken', async () => {
  up.next(says('Yes.'))
  expect((await respond({ input: 'Hi', tools: [], tool_choice: 'none' })).status).toBe(200)
})

verifies('contract-35.time-zones', 'zones as people write them', async () => {
  await chooses({ builtInToolIds: ['current_time'] })
  for (const [given, words] of [
    ['{"timeZone":""}', 'UTC'],
    ['{"timeZone":"UTC+2"}', '+02:00'],
    ['{"timeZone":"Berlin"}', 'an IANA name such as Europe/Berlin'],
    ['{"timezone":"Europe/Berlin"}', 'timeZone'],
  ] as const) {
    up.next(callsFor({ index: 0, id: 'c1', name: 'current_time', arguments: given }))
    up.next(says('done'))
    await ask('x')
    expect(told()).toContain(words)
  }
})

verifies('contract-35.receivers', 'a redirect is told with where it leads, and a long wait is kept', async () => {
  const receiver = await startServer(
    (_, response) => void response.writeHead(301, { location: 'https://moved.example/hook?token=s' }).end(),
  )
  const made = await make('/api/v1/webhooks', { name: 'W', url: receiver.url, events: ['reply.completed'] })
  const say = async () => {
    const session = await newSession(product.url, agent)
    up.next(says('done'))
    const messages = [{ role: 'user', content: 'x' }]
    await postJson(`${product.url}${session}/chat/completions`, { messages })
  }
  const deliveries = async () =>
    Object(await (await fetch(`${product.url}/api/v1/webhooks/${made.id}/deliveries`)).json()).deliveries
  await say()
  const newest = expect.poll(async () => JSON.stringify((await deliveries())[0] ?? null))
  await newest.toContain('https://moved.example/hook')
  expect(JSON.stringify(await deliveries())).not.toContain('token')
  receiver.serve = (_, response) => void response.writeHead(429, { 'retry-after': '600' }).end()
  await say()
  await newest.toContain('429')
  const [{ nextAttemptAt, createdAt }] = await deliveries()
  expect(Date.parse(nextAttemptAt) - Date.parse(createdAt)).toBeGreaterThan(590_000)
})
