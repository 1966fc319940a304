/** Contract section 22: what a queued message asked for holds when it begins, on every surface. */
import { afterAll, expect } from 'vitest'
import { openToolScene, says } from '../../../http/tool-scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { weather } from '../../approvals/routes/waiting-scene.ts'
import { running, waiting } from './queue-scene.ts'

const scene = await openToolScene()
afterAll(scene.close)

const png = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c626001000000ffff03000006000557bfabd40000000049454e44ae426082',
  'hex',
)
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } }

verifies('contract-22.fields', 'fields, tools, parts and stream_options hold for the reply', async () => {
  const { id, end } = await running(scene)
  const content = [{ type: 'text', text: 'look' }, picture]
  const body = {
    messages: [{ role: 'user', content }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 77,
    stop: ['END'],
    tools: [weather],
    tool_choice: 'auto',
    on_busy: 'enqueue',
  }
  const stream = await openSse(`${scene.app.url}${scene.sessions}/${id}/chat/completions`, body)
  await waiting(scene, id, 1)
  scene.up.next(says('seen'))
  const calls = scene.up.calls.length
  await end()
  const { frames } = await stream.rest()
  expect(JSON.parse(frames.at(-2)?.data ?? '').usage).toBeDefined()
  const sent = (await scene.up.call(calls + 1)).body
  expect([sent.max_tokens, sent.stop, sent.tools[0].function.name, sent.tool_choice]).toEqual([
    77,
    ['END'],
    'weather',
    'auto',
  ])
  expect(sent.messages.at(-1).content).toContainEqual(picture)
  const [, , question] = await scene.messages(id)
  expect(question.parts).toHaveLength(1)
  const part = await fetch(`${scene.app.url}${question.parts[0].url}`)
  expect(Buffer.from(await part.arrayBuffer())).toEqual(png)
})

verifies('contract-22.dequeue', 'the parts of a message go with it', async () => {
  const { id, end } = await running(scene)
  const content = [{ type: 'text', text: 'gone' }, picture]
  const body = { messages: [{ role: 'user', content }], on_busy: 'enqueue' }
  const asked = scene.call('POST', `${scene.sessions}/${id}/chat/completions`, body)
  const [message] = await waiting(scene, id, 1)
  await scene.call('DELETE', `${scene.sessions}/${id}/queue/${message.id}`)
  await asked
  const [row] = await scene.app.sql`select count(*)::integer as n from message_parts where message_id = ${message.id}`
  expect(row?.n).toBe(0)
  await end()
})

verifies(
  'contract-22.no-longer-fits',
  'what the agent takes no more ends as provider_error, and the next begins',
  async () => {
    const { id, end } = await running(scene)
    const streamed = await scene.stream(id, 'second', { on_busy: 'enqueue', seed: 3 })
    const third = scene.send(id, 'third', { on_busy: 'enqueue' })
    await waiting(scene, id, 2)
    const [provider] = await scene.app.sql`select provider_type from providers where id = ${scene.providerId}`
    await scene.app.sql`update providers set provider_type = 'anthropic' where id = ${scene.providerId}`
    await end()
    const { frames } = await streamed.rest()
    expect(JSON.parse(frames.at(-1)?.data ?? '').error).toMatchObject({ code: 'provider_error' })
    await scene.app.sql`update providers set provider_type = ${provider?.provider_type} where id = ${scene.providerId}`
    await third
    expect((await scene.messages(id)).slice(2, 4).map(({ status }) => status)).toEqual(['complete', 'error'])
  },
)

verifies('contract-22.surfaces', 'the playground has the queue in camel case', async () => {
  const { id, end } = await running(scene)
  const base = `${scene.agent}/playground/sessions/${id}`
  const queued = await scene.chat({ sessionId: id, message: 'second', onBusy: 'enqueue' })
  const away = await scene.chat({ sessionId: id, message: 'away', onBusy: 'steer' })
  expect([queued.headers.get('x-queue-position'), away.headers.get('x-queue-position')]).toEqual(['1', '1'])
  const { queue } = (await scene.call('GET', `${base}/queue`)).json
  expect(queue).toEqual([
    { id: expect.any(String), content: 'away', createdAt: expect.any(String), position: 1 },
    { id: expect.any(String), content: 'second', createdAt: expect.any(String), position: 2 },
  ])
  expect((await scene.call('DELETE', `${base}/queue/${queue[0].id}`)).status).toBe(204)
  expect((await away.rest()).frames.map(({ data }) => JSON.parse(data).error.code)).toEqual(['dequeued'])
  expect((await scene.call('POST', `${base}/cancel`, { queue: 'none' })).status).toBe(400)
  expect(
    (await scene.call('POST', `${scene.agent}/playground/chat`, { sessionId: id, regenerate: true, onBusy: 'steer' }))
      .status,
  ).toBe(400)
  scene.up.next(says('ok'))
  await end()
  await queued.rest()
  expect((await scene.shown(id)).map(({ content }) => content)).toEqual(['first', 'Par', 'second', 'ok'])
})

verifies('contract-22.surfaces', 'AI SDK and AG-UI take on_busy, and say that a message was removed', async () => {
  const { id, end } = await running(scene)
  const ui = {
    id,
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'second' }] }],
    trigger: 'submit-message',
  }
  const sdk = await openSse(`${scene.app.url}${scene.agent}/deploy/ai-sdk`, { ...ui, on_busy: 'enqueue' })
  const run = {
    threadId: id,
    runId: 'r1',
    messages: [{ id: 'm', role: 'user', content: 'third' }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: { on_busy: 'steer' },
  }
  const agUi = await openSse(`${scene.app.url}${scene.agent}/deploy/ag-ui`, run)
  expect([sdk.headers.get('x-queue-position'), agUi.headers.get('x-queue-position')]).toEqual(['1', '1'])
  expect(
    (
      await scene.call('POST', `${scene.agent}/deploy/ai-sdk`, {
        ...ui,
        trigger: 'regenerate-message',
        on_busy: 'steer',
      })
    ).status,
  ).toBe(400)
  for (const { id: message } of await waiting(scene, id, 2)) {
    await scene.call('DELETE', `${scene.sessions}/${id}/queue/${message}`)
  }
  const parts = (await sdk.rest()).frames.map(({ data }) => data)
  expect([JSON.parse(parts[0] ?? '').type, parts.slice(1)]).toEqual(['error', ['[DONE]']])
  const events = (await agUi.rest()).frames.map(({ data }) => JSON.parse(data))
  expect(events).toEqual([{ type: 'RUN_ERROR', message: expect.any(String), code: 'dequeued' }])
  await end()
})

verifies('contract-22.surfaces', 'the Responses API shows what is queued, and takes it out', async () => {
  const { id, end } = await running(scene)
  const responses = `${scene.agent}/deploy/responses`
  const post = (input: string, extra: object = {}) =>
    scene.call('POST', responses, { input, conversation: id, on_busy: 'enqueue', background: true, ...extra })
  const queued = (await post('second')).json
  expect(queued).toMatchObject({ object: 'response', status: 'queued', background: true, output: [] })
  expect((await scene.call('GET', `${responses}/${queued.id}`)).json).toEqual(queued)
  const away = (await post('away')).json
  expect((await scene.call('POST', `${responses}/${away.id}/cancel`)).json).toMatchObject({
    id: away.id,
    status: 'cancelled',
  })
  expect((await scene.call('GET', `${responses}/${away.id}`)).json.status).toBe('cancelled')
  const gone = (await post('gone')).json
  expect((await scene.call('DELETE', `${responses}/${gone.id}`)).json).toMatchObject({ id: gone.id, deleted: true })
  const followed = openSse(`${scene.app.url}${responses}/${queued.id}?stream=true`)
  scene.up.next(says('ok'))
  await end()
  const { frames } = await (await followed).rest()
  expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({
    type: 'response.completed',
    response: { id: queued.id },
  })
  expect((await scene.call('GET', `${responses}/${queued.id}`)).json.status).toBe('completed')
})

verifies(
  ['contract-24.input-items', 'contract-22.surfaces'],
  'input_items of a queued response are its own',
  async () => {
    const { id, end } = await running(scene)
    const responses = `${scene.agent}/deploy/responses`
    const content = [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: picture.image_url.url },
    ]
    const body = { input: [{ role: 'user', content }], conversation: id, on_busy: 'enqueue', background: true }
    const queued = (await scene.call('POST', responses, body)).json
    const items = async () => (await scene.call('GET', `${responses}/${queued.id}/input_items`)).json
    const waiting = await items()
    expect(waiting.data).toMatchObject([
      { type: 'message', role: 'user', content: [content[0], { type: 'input_image' }] },
    ])
    const part = await fetch(`${scene.app.url}${waiting.data[0].content[1].image_url}`)
    expect(Buffer.from(await part.arrayBuffer())).toEqual(png)
    scene.up.next(says('seen'))
    await end()
    const read = async () => (await scene.call('GET', `${responses}/${queued.id}`)).json.status
    await expect.poll(read).toBe('completed')
    expect(await items()).toEqual(waiting)
  },
)

verifies(
  ['contract-24.create', 'contract-22.surfaces'],
  'a message is put behind a response that waits, and waits behind it; nothing else can be',
  async () => {
    const { id, end } = await running(scene)
    const responses = `${scene.agent}/deploy/responses`
    const post = (body: object) => scene.call('POST', responses, { background: true, on_busy: 'enqueue', ...body })
    const second = (await post({ input: 'second', conversation: id })).json
    const behind = { previous_response_id: second.id }
    for (const on_busy of ['reject', 'steer', 'interrupt']) {
      const { status, json } = await post({ input: 'no', ...behind, on_busy })
      expect([on_busy, status, json.error]).toMatchObject([
        on_busy,
        409,
        { message: expect.stringContaining('enqueue') },
      ])
    }
    const third = await post({ input: 'third', ...behind })
    expect([third.status, third.headers.get('x-queue-position')]).toEqual([200, '2'])
    expect(third.json).toMatchObject({ status: 'queued', previous_response_id: second.id })
    const away = (await post({ input: 'away', conversation: id })).json
    const lost = (await post({ input: 'lost', previous_response_id: away.id })).json
    await scene.call('POST', `${responses}/${away.id}/cancel`)
    scene.up.next(says('two'))
    scene.up.next(says('three'))
    await end()
    const read = async (response: string) => (await scene.call('GET', `${responses}/${response}`)).json
    await expect.poll(async () => (await read(lost.id)).status).toBe('failed')
    expect(await read(third.json.id)).toMatchObject({ status: 'completed', previous_response_id: second.id })
    const sent = scene.up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)
    expect(sent.slice(-5)).toEqual(['first', 'Par', 'second', 'two', 'third'])
  },
)
