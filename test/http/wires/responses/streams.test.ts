/** Streams of the Responses API (contract section 24): the same events under the same numbers, for every reader. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { packageFaults } from './openai-events.ts'
import { eventsOf, openResponsesScene, wholeStream } from './responses-scene.ts'

const scene = await openResponsesScene()
afterAll(scene.close)
afterEach(() => scene.up.forget())

verifies('contract-24.events', 'a stream is OpenAI’s events, numbered without gaps', async () => {
  scene.up.next(async (call) => {
    await call.delta({ reasoning_content: 'Let me see.' })
    await call.text('Hel')
    await call.text('lo')
    await call.finish('stop', { prompt_tokens: 3, completion_tokens: 2 }, true)
  })
  const stream = await scene.stream({ input: 'Hi' })
  const events = await wholeStream(stream)
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(stream.raw()).not.toContain('[DONE]')
  expect(stream.frames.map(({ event }) => event)).toEqual(events.map(({ type }) => type))
  expect(stream.frames.map(({ id }) => id)).toEqual(events.map((_, n) => `${n}`))
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, n) => n))
  expect(events.flatMap(packageFaults)).toEqual([])
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
  expect(deltas.map(({ delta }) => delta).join('')).toBe('Hello')
  expect(deltas.every(({ logprobs }) => Array.isArray(logprobs) && logprobs.length === 0)).toBe(true)
  const types = events.map(({ type }) => type).filter((type) => !type.endsWith('.delta'))
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const last = events.at(-1)?.response
  expect(last.output.map(({ type }: { type: string }) => type)).toEqual(['reasoning', 'message'])
  expect((await scene.call('GET', `${scene.responses}/${last.id}`)).json).toEqual(last)
})

verifies(
  ['contract-24.numbers', 'contract-24.resume'],
  'running or settled, a reader behind any number gets the rest byte for byte',
  async () => {
    const played = scene.byHand()
    const live = await scene.stream({ input: 'Hi' })
    const call = await played
    await call.text('one ')
    while ((await live.next())?.event !== 'response.output_text.delta') {}
    const id = eventsOf(live)[0]?.response.id
    const [whole, behind] = await Promise.all([scene.follow(id), scene.follow(id, '', { 'last-event-id': '1' })])
    await call.text('two ')
    await call.text('three')
    await call.finish('stop')
    const events = await wholeStream(live)
    await Promise.all([wholeStream(whole), wholeStream(behind)])
    expect(whole.raw()).toBe(live.raw())
    const pieces = live.raw().split(/(?<=\n\n)/)
    expect(behind.raw()).toBe(pieces.slice(2).join(''))
    for (const { sequence_number: number } of events) {
      const rest = await scene.follow(id, `&starting_after=${number}`)
      await wholeStream(rest)
      expect(rest.raw()).toBe(pieces.slice(number + 1).join(''))
    }
    for (const wrong of ['-1', 'x', '1.5'])
      expect((await scene.call('GET', `${scene.responses}/${id}?stream=true&starting_after=${wrong}`)).status).toBe(400)
    const header = await scene.call('GET', `${scene.responses}/${id}?stream=true`, undefined, { 'last-event-id': 'x' })
    expect([header.status, header.json.error.type]).toEqual([400, 'invalid_request_error'])
  },
)

verifies(
  ['contract-24.background', 'contract-24.cancel'],
  'background answers at once, and is followed and cancelled',
  async () => {
    const played = scene.byHand()
    const { json } = await scene.create({ input: 'Hi', background: true })
    expect([json.status, json.background, json.output, json.usage]).toEqual(['in_progress', true, [], null])
    const call = await played
    const stream = await scene.follow(json.id)
    await call.text('partial')
    while ((await stream.next())?.event !== 'response.output_text.delta') {}
    const read = await scene.call('GET', `${scene.responses}/${json.id}`)
    expect([read.json.status, read.json.output[0].status]).toEqual(['in_progress', 'in_progress'])
    const cancelled = await scene.client.responses.cancel(json.id)
    expect([cancelled.status, cancelled.output]).toMatchObject(['cancelled', [{ content: [{ text: 'partial' }] }]])
    const last = (await wholeStream(stream)).at(-1)
    expect([last?.type, last?.response.status]).toEqual(['response.incomplete', 'cancelled'])
    expect((await scene.client.responses.cancel(json.id)).status).toBe('cancelled')
  },
)

verifies(
  'contract-24.background',
  'background shows the beginning, also of a reply that has ended by then',
  async () => {
    scene.says(['at once'])
    const key = { 'idempotency-key': 'ended-by-then' }
    const create = () => scene.create({ input: 'Hi', background: true }, key)
    const { answer, id } = await scene.app.sql.begin(async (tx) => {
      // An answer reads whether its response was taken out of the queue.
      await tx`lock table dequeued_responses in access exclusive mode`
      const answer = create()
      const ended = () => scene.app.sql<{ id: string }[]>`select id from messages where content = 'at once'`
      await expect.poll(async () => (await ended()).length).toBe(1)
      const [row] = await ended()
      return { answer, id: row?.id ?? '' }
    })
    const { json } = await answer
    expect([json.status, json.output, json.usage]).toEqual(['in_progress', [], null])
    expect((await scene.call('GET', `${scene.responses}/${id}`)).json).toMatchObject({
      id: json.id,
      status: 'completed',
    })
    expect((await create()).json.status).toBe('completed')
  },
)

verifies(
  ['contract-24.by-model', 'contract-24.cancel'],
  'an id alone names a response to cancel and delete',
  async () => {
    const openai = '/api/v1/openai/responses'
    const played = scene.byHand()
    const made = (await scene.call('POST', openai, { input: 'Hi', model: scene.agentId, background: true })).json
    await (await played).text('partial')
    expect((await scene.call('GET', `${openai}/${made.id}`)).json.status).toBe('in_progress')
    expect((await scene.call('POST', `${openai}/${made.id}/cancel`)).json.status).toBe('cancelled')
    expect((await scene.call('DELETE', `${openai}/${made.id}`)).json).toMatchObject({ id: made.id, deleted: true })
    expect((await scene.call('GET', `${openai}/${made.id}`)).status).toBe(404)
  },
)

verifies(
  ['contract-24.events', 'contract-24.failed'],
  'what is cut off and what fails end with their own events',
  async () => {
    scene.says(['cut'], { reason: 'length' })
    const cut = (await wholeStream(await scene.stream({ input: 'Hi' }))).at(-1)
    expect([cut?.type, cut?.response.status, cut?.response.incomplete_details]).toEqual([
      'response.incomplete',
      'incomplete',
      { reason: 'max_output_tokens' },
    ])
    scene.up.always((call) => call.error(401, { error: { message: 'no' } }))
    const failed = (await wholeStream(await scene.stream({ input: 'Hi' }))).at(-1)
    expect([failed?.type, failed?.response.status, failed?.response.error.code]).toEqual([
      'response.failed',
      'failed',
      'provider_auth',
    ])
  },
)

verifies('contract-24.read', 'a reply that chat completions began is read and streamed', async () => {
  scene.says(['from chat'])
  const session = await scene.newSession()
  await scene.send(session, 'Hi', { stream_options: { include_usage: true } })
  const [, reply] = await scene.messages(session)
  const { json } = await scene.call('GET', `${scene.responses}/${reply.id}`)
  expect([json.status, json.output[0].content[0].text, json.metadata]).toEqual(['completed', 'from chat', {}])
  const events = await wholeStream(await scene.follow(reply.id))
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: json })
})

verifies(['contract-24.stateless', 'contract-24.events'], 'store: false streams the same kinds of events', async () => {
  scene.says(['a', 'b'])
  const events = await wholeStream(await scene.stream({ input: 'Hi', store: false }))
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, n) => n))
  expect(events.at(-1)?.response).toMatchObject({ store: false, status: 'completed', conversation: null })
})

verifies('contract-24.input-items', 'input_items lists what that request brought', async () => {
  scene.says(['ok'])
  const first = await scene.client.responses.create({ input: 'one' })
  const second = await scene.client.responses.create({ input: 'two', previous_response_id: first.id })
  const items = []
  for await (const item of scene.client.responses.inputItems.list(second.id)) items.push(item)
  expect(items).toEqual([
    {
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'two' }],
    },
  ])
})
