/** Requests to POST …/deploy/responses that are sent once more, where they make a conversation (contract sections 4 and 24). */
import { afterAll, afterEach, expect } from 'vitest'
import { dataUrl, png } from '../../../features/parts/routes/parts-scene.ts'
import { untilFollowed } from '../../../support/followers.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: {} })
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const retry = { 'x-stainless-retry-count': '1' }
const textOf = ({ json }: Awaited<ReturnType<typeof create>>) => json.output[0].content[0].text
const sessionsOf = (user: string) => scene.app.sql<{ id: string }[]>`select id from sessions where end_user = ${user}`

verifies(
  ['contract-24.create', 'contract-4.idempotency'],
  'the same key and body join the first response, in its conversation',
  async () => {
    scene.says(['once'])
    const key = { 'idempotency-key': 'the-key' }
    const [first, again] = [await create({ input: 'x' }, key), await create({ input: 'x' }, key)]
    expect(again.json).toEqual(first.json)
    const rich = { input: 'x', metadata: { a: 'b' } }
    const other = { 'idempotency-key': 'another' }
    const [one, two] = [await create(rich, other), await create(rich, other)]
    expect(two.json).toEqual(one.json)
    expect((await create({ input: 'y' }, key)).status).toBe(400)
  },
)

verifies(
  'contract-35.stream-of-key',
  'the key is held to what is asked for, not to whether it is streamed',
  async () => {
    scene.says(['once'])
    for (const stored of [{}, { safety_identifier: 'streams-once' }]) {
      const key = { 'idempotency-key': `streamed ${JSON.stringify(stored)}` }
      const url = `${scene.app.url}${scene.responses}`
      const stream = await openSse(url, { input: 'x', stream: true, ...stored }, key)
      const { frames } = await stream.rest()
      const { response } = JSON.parse(frames.at(-1)?.data ?? '{}')
      expect((await create({ input: 'x', ...stored }, key)).json.id).toBe(response.id)
      expect((await create({ input: 'x', stream: false, ...stored }, key)).json.id).toBe(response.id)
      expect((await create({ input: 'y', ...stored }, key)).status).toBe(400)
    }
  },
)

verifies(
  ['contract-24.create', 'contract-4.idempotency'],
  'a key that is kept no more begins a conversation of its own, with all that the request brings',
  async () => {
    scene.says(['ok'])
    const key = { 'idempotency-key': 'once-a-day' }
    const input = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ]
    const send = async () => (await create({ input, metadata: { a: 'b' } }, key)).json
    const seen: string[] = []
    // Nothing is left of the key when its response is deleted, nor after a day.
    for (const forget of [
      ({ id }: { id: string }) => scene.call('DELETE', `${scene.responses}/${id}`),
      () => scene.app.sql`update idempotency_keys set created_at = created_at - interval '25 hours'`,
      () => scene.app.sql`delete from idempotency_keys`,
    ]) {
      const made = await send()
      const session = sessionOf(made.conversation.id)
      await scene.app.sql`update idempotency_keys set created_at = created_at - interval '23 hours'`
      expect(await send()).toEqual(made)
      const contents = (await scene.messages(session)).map(({ content }) => content)
      expect(contents).toEqual(['one', 'two', 'three', 'ok'])
      expect((await scene.call('GET', `${scene.sessions}/${session}`)).json.metadata).toEqual({ a: 'b' })
      expect(seen).not.toContain(session)
      seen.push(session)
      await forget(made)
    }
  },
)

verifies(
  ['contract-24.create', 'contract-4.retry-join'],
  'a retry of the request that makes a conversation joins it: of the same user, and the same request, alone',
  async () => {
    const body = { input: 'go', safety_identifier: 'ann', metadata: { a: 'b' } }
    const next = scene.byHand()
    const first = create(body)
    const up = await next
    const [session] = await sessionsOf('ann')
    scene.says(['another'])
    for (const [other, headers] of [
      [{ ...body, safety_identifier: 'ben' }, retry],
      [{ ...body, metadata: {} }, retry],
      [{ ...body, input: 'stop' }, retry],
      [body, {}],
    ] as const)
      expect(textOf(await create(other, headers))).toBe('another')
    const again = create(body, retry)
    await untilFollowed(scene.app.url, session?.id ?? '', 2)
    await up.text('one')
    await up.finish()
    expect((await again).json).toEqual((await first).json)
    expect(textOf(await first)).toBe('one')
    // Its connection has lived: what comes now is asked anew.
    expect(textOf(await create(body, retry))).toBe('another')
  },
)

verifies(
  ['contract-24.create', 'contract-4.retry-join'],
  'such a retry joins the finished reply when its first request had lost its connection, for ten minutes',
  async () => {
    const body = { input: 'go', safety_identifier: 'eve' }
    const next = scene.byHand()
    const controller = new AbortController()
    const lost = fetch(`${scene.app.url}${scene.responses}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).catch(() => null)
    const up = await next
    controller.abort()
    await lost
    const [session] = await sessionsOf('eve')
    await untilFollowed(scene.app.url, session?.id ?? '', 0)
    await up.text('one')
    await up.finish()
    await expect.poll(async () => (await scene.messages(session?.id ?? '')).at(-1).status).toBe('complete')
    const calls = scene.up.calls.length
    scene.says(['another'])
    expect(textOf(await create(body, retry))).toBe('one')
    expect([scene.up.calls.length, (await sessionsOf('eve')).length]).toEqual([calls, 1])
    for (const [minutes, answer] of [
      [9, 'one'],
      [2, 'another'],
    ] as const) {
      await scene.app
        .sql`update sessions set created_at = created_at - make_interval(mins => ${minutes}) where end_user = 'eve'`
      expect([minutes, textOf(await create(body, retry))]).toEqual([minutes, answer])
    }
  },
)

verifies(
  ['contract-24.create', 'contract-4.retry-join'],
  'such a retry joins also where a proxy gives each request a key of its own, unless its key has made a conversation',
  async () => {
    const body = { input: 'go', safety_identifier: 'kim' }
    const keyed = (key: string) => ({ 'idempotency-key': key })
    const next = scene.byHand()
    const first = create(body, keyed('kim-1'))
    const up = await next
    const [session] = await sessionsOf('kim')
    scene.says(['another'])
    const other = await create(body, keyed('kim-2'))
    expect(textOf(other)).toBe('another')
    expect((await create(body, { ...retry, ...keyed('kim-2') })).json).toEqual(other.json)
    // The newest that the same request has made is the one that is joined, and the other one has ended.
    await scene.app.sql`delete from sessions where id = ${sessionOf(other.json.conversation.id)}`
    const again = create(body, { ...retry, ...keyed('kim-3') })
    await untilFollowed(scene.app.url, session?.id ?? '', 2)
    await up.text('one')
    await up.finish()
    expect((await again).json).toEqual((await first).json)
    expect(await sessionsOf('kim')).toHaveLength(1)
  },
)

verifies(
  ['contract-24.background', 'contract-4.retry-join'],
  'such a retry joins a response in the background whose answer could not be given',
  async () => {
    const { id: conversation } = (await scene.call('POST', scene.conversations, {})).json
    const body = { input: 'go', conversation, background: true }
    const next = scene.byHand()
    const { sql } = scene.app
    // An answer reads whether its response was taken out of the queue.
    await sql`alter table dequeued_responses rename to kept`
    await sql`create function disk_full() returns setof kept language plpgsql
      as $$ begin raise exception using errcode = '53100'; end $$`
    await sql`create view dequeued_responses as select * from disk_full()`
    const first = await create(body)
    await sql`drop view dequeued_responses`
    await sql`alter table kept rename to dequeued_responses`
    expect([first.status, first.headers.get('x-should-retry')]).toEqual([500, null])
    const up = await next
    await up.text('once')
    await up.finish()
    const session = sessionOf(conversation)
    await expect.poll(async () => (await scene.messages(session)).at(-1).status).toBe('complete')
    const again = await create(body, retry)
    expect(textOf(again)).toBe('once')
    expect((await scene.messages(session)).map(({ content }) => content)).toEqual(['go', 'once'])
  },
)

verifies(
  ['contract-24.background', 'contract-4.retry-join'],
  'such a retry joins a response in the background whose client left before its answer',
  async () => {
    const { id: conversation } = (await scene.call('POST', scene.conversations, {})).json
    const body = { input: 'go', conversation, background: true }
    const next = scene.byHand()
    const controller = new AbortController()
    const { lost, up } = await scene.app.sql.begin(async (tx) => {
      await tx`lock table dequeued_responses` // an answer reads it
      const lost = fetch(`${scene.app.url}${scene.responses}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: controller.signal,
      }).catch(() => null)
      const up = await next
      controller.abort()
      await scene.messages(sessionOf(conversation)) // comes behind the end of the connection
      return { lost, up }
    })
    expect(await lost).toBeNull()
    await up.text('once')
    await up.finish()
    await expect.poll(async () => (await scene.messages(sessionOf(conversation))).at(-1).status).toBe('complete')
    expect(textOf(await create(body, retry))).toBe('once')
  },
)

verifies('contract-24.create', 'a retry of what nobody in particular sends joins nobody’s conversation', async () => {
  const next = scene.byHand()
  const first = create({ input: 'Hello' })
  const up = await next
  scene.says(['another'])
  expect(textOf(await create({ input: 'Hello' }, retry))).toBe('another')
  await up.text('one')
  await up.finish()
  expect(textOf(await first)).toBe('one')
})

verifies(
  'contract-32.repeated-path',
  'items without ids that repeat the path behind a known one are known',
  async () => {
    scene.says(['One.'])
    const first = (await create({ input: 'Count' })).json
    scene.says(['Two.'])
    const second = (await create({ input: 'More', conversation: first.conversation })).json
    const said = (content: string) => ({ role: 'assistant', content })
    const ask = (content: string) => ({ role: 'user', content })
    const history = [ask('Count'), ...first.output, ask('More')]
    scene.says(['Three.'])
    const third = (await create({ input: [...history, said('Two.'), ask('And?')] })).json
    expect([third.conversation, third.previous_response_id]).toEqual([first.conversation, second.id])
    for (const input of [
      [...history, said('Zwei.'), ask('And?')],
      [ask('Count'), ...first.output, said('Two.'), ask('And?')],
      [...history, said('Two.'), said('Three.'), ask('And?')],
    ]) {
      const anew = await create({ input })
      expect(anew.status).toBe(200)
      expect(anew.json.conversation).not.toEqual(first.conversation)
    }
  },
)

verifies('contract-32.repeated-path', 'pictures among them are compared by their bytes', async () => {
  const see = (width: number) => ({
    role: 'user',
    content: [
      { type: 'input_text', text: 'See ' },
      { type: 'input_image', image_url: dataUrl('image/png', png({ width })) },
    ],
  })
  scene.says(['One.'])
  const first = (await create({ input: 'Count' })).json
  scene.says(['Two.'])
  const second = (await create({ input: [see(1)], previous_response_id: first.id })).json
  const [, shown] = (await scene.call('GET', `${scene.conversations}/${first.conversation.id}/items`)).json.data
  const behind = [
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'And?' },
  ]
  scene.says(['Three.'])
  for (const repeated of [see(1), { role: 'user', content: shown.content }]) {
    const third = (await create({ input: [...first.output, repeated, ...behind] })).json
    expect([third.conversation, third.previous_response_id]).toEqual([first.conversation, second.id])
  }
  const other = (await create({ input: [...first.output, see(2), ...behind] })).json
  expect(other.conversation).not.toEqual(first.conversation)
})
