/** What a session carries beside its messages: user, metadata, an id of the caller's, a history to begin with. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { isoUtc, nobody, openScene, uuid } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

const create = (body: unknown, sessions = scene.sessions) => scene.call('POST', sessions, body)
const read = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json
const patch = (id: string, body: unknown) => scene.call('PATCH', `${scene.sessions}/${id}`, body)

verifies(
  ['contract-11.sessions', 'contract-11.create'],
  'user and metadata are stored as they were given, on every path that shows a session',
  async () => {
    const metadata = { plan: 'gold', 'naïve name': '', ['x'.repeat(64)]: '😀'.repeat(512) }
    const { status, json } = await create({ user: 'user 1 / ü', metadata, title: 'Mine' })
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(uuid),
        agent_id: scene.agentId,
        title: 'Mine',
        user: 'user 1 / ü',
        metadata,
        external_id: null,
        agent_version: null,
        archived: false,
        head_id: null,
        forked_from: null,
        parent: null,
        pending: [],
        created_at: expect.stringMatching(isoUtc),
        updated_at: json.created_at,
      },
    ])
    expect(await read(json.id)).toEqual(json)
    const [listed] = (await scene.call('GET', scene.sessions)).json.sessions
    expect(listed).toEqual({ ...json, status: 'idle', queued: 0 })
    const [shown] = (await scene.call('GET', `${scene.agent}/playground/sessions`)).json.sessions
    expect(shown).toMatchObject({ id: json.id, user: 'user 1 / ü', metadata, updatedAt: json.updated_at })
    for (const empty of [
      {},
      { user: null, metadata: null, id: null, messages: null },
      { metadata: {}, messages: [] },
    ]) {
      expect((await create(empty)).json).toMatchObject({ user: null, metadata: {} })
    }
  },
)

verifies('contract-11.create', 'the playground makes sessions with user and metadata too', async () => {
  const body = { user: 'u', metadata: { a: 'b' }, title: 'Here' }
  const { status, json } = await scene.call('POST', `${scene.agent}/playground/sessions`, body)
  expect([status, json]).toMatchObject([201, body])
})

verifies(
  'contract-11.create',
  'what misses the contract is 400 that names the field, and nothing is made',
  async () => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 'v']))
    const before = (await scene.call('GET', scene.sessions)).json.total
    for (const [field, value] of [
      ['user', ''],
      ['user', 'x'.repeat(201)],
      ['user', 5],
      ['metadata', 'text'],
      ['metadata', ['a']],
      ['metadata', { a: 1 }],
      ['metadata', { a: null }],
      ['metadata', { a: { b: 'c' } }],
      ['metadata', { '': 'empty name' }],
      ['metadata', { ['x'.repeat(65)]: 'v' }],
      ['metadata', { a: 'x'.repeat(513) }],
      ['metadata', names(17)],
      ['id', ''],
      ['id', 'not-a-uuid'],
      ['id', 7],
      ['messages', {}],
      ['messages', [{ role: 'system', content: 'x' }]],
      ['messages', [{ role: 'tool', content: 'x' }]],
      ['messages', [{ role: 'user' }]],
      ['messages', [{ role: 'user', content: [{ type: 'audio' }] }]],
      ['messages', Array.from({ length: 1001 }, () => ({ role: 'user', content: 'x' }))],
    ] as const) {
      const { status, json } = await create({ [field]: value })
      expect([field, value, status, json]).toEqual([field, value, 400, refusedRequest(field)])
    }
    expect((await create({ metadata: names(16) })).status).toBe(201)
    expect((await scene.call('GET', scene.sessions)).json.total).toBe(before + 1)
  },
)

verifies(
  'contract-11.create',
  'an id of the caller’s is lower-cased; taken, by whatever agent, it is 409',
  async () => {
    const id = randomUUID()
    const { status, json } = await create({ id: id.toUpperCase() })
    expect([status, json.id]).toEqual([201, id])
    const other = `/api/v1/agents/${(await createAgent(scene.app)).agentId}/deploy/sessions`
    for (const sessions of [scene.sessions, other]) {
      const again = await create({ id, title: 'Another' }, sessions)
      expect([again.status, again.json]).toEqual([409, { error: expect.stringContaining('id') }])
      expect(again.headers.get('x-should-retry')).toBe('false')
    }
    expect((await read(id)).title).toBeNull()
    expect((await create({ id }, `/api/v1/agents/${nobody}/deploy/sessions`)).status).toBe(404)
    const fresh = randomUUID()
    const both = await Promise.all([1, 2, 3].map(() => create({ id: fresh })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  },
)

verifies(
  ['contract-11.create', 'contract-4.delete'],
  'an id that is used again after a deletion is a new session, which the old one’s end does not touch',
  async () => {
    const id = randomUUID()
    await create({ id })
    const first = scene.byHand()
    const old = await scene.stream(id, 'first')
    await (await first).text('old')
    expect((await scene.call('DELETE', `${scene.sessions}/${id}`)).status).toBe(204)
    await old.rest()
    await create({ id })
    const second = scene.byHand()
    const stream = await scene.stream(id, 'second')
    const call = await second
    await call.text('new')
    // What the deletion left for the owner is read within a second.
    await expect.poll(async () => (await scene.app.sql`select 1 from intents where session_id = ${id}`).length).toBe(0)
    await call.text(' text')
    await call.finish()
    expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
    expect((await scene.messages(id)).map(({ content }) => content)).toEqual(['second', 'new text'])
    scene.says(['Fine.'])
  },
)

verifies('contract-11.given-messages', 'given messages are complete, in their order, and have no stream', async () => {
  const messages = [
    { role: 'assistant', content: 'Welcome!' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
      ],
    },
    { role: 'assistant', content: 'Hello to you.' },
  ]
  const { status, json } = await create({ messages })
  expect([status, json.title]).toEqual([201, 'Hello'])
  const common = { session_id: json.id, status: 'complete', created_at: expect.stringMatching(isoUtc) }
  expect(await scene.messages(json.id)).toMatchObject([
    { ...common, role: 'assistant', content: 'Welcome!', finish_reason: 'stop' },
    { ...common, role: 'user', content: 'Hello', finish_reason: null },
    { ...common, role: 'assistant', content: 'Hello to you.', finish_reason: 'stop' },
  ])
  for (const path of [
    `${scene.sessions}/${json.id}/chat/completions/stream`,
    `${scene.agent}/playground/sessions/${json.id}/stream`,
  ]) {
    expect((await scene.call('GET', path)).status).toBe(204)
  }
  expect((await scene.send(json.id, 'How are you?')).status).toBe(200)
  expect(scene.up.calls.at(-1)?.body.messages).toEqual([
    { role: 'assistant', content: 'Welcome!' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello to you.' },
    { role: 'user', content: 'How are you?' },
  ])
  expect((await scene.messages(json.id)).map(({ content }) => content).slice(-3)).toEqual([
    'Hello to you.',
    'How are you?',
    'Fine.',
  ])
  expect((await read(json.id)).title, 'from the first user message').toBe('Hello')
  const { frames } = await (await scene.resume(json.id)).rest()
  expect([frames[0]?.id, frames.at(-1)?.data]).toEqual(['1', '[DONE]'])
})

verifies(
  'contract-11.given-messages',
  'a thousand are stored, and a last one of the user’s waits for what follows',
  async () => {
    const messages = Array.from({ length: 1000 }, (_, i) => ({ role: 'user', content: `${i}` }))
    const { json } = await create({ messages })
    expect((await scene.messages(json.id)).map(({ content }) => content)).toEqual(
      messages.map(({ content }) => content),
    )
    expect((await scene.send(json.id, 'more')).status).toBe(200)
    const [asked] = scene.up.calls.at(-1)?.body.messages ?? []
    expect(asked.content.endsWith('998\n\n999\n\nmore')).toBe(true)
    expect((await scene.messages(json.id)).slice(-2).map(({ role }) => role)).toEqual(['user', 'assistant'])
  },
)

verifies('contract-11.given-messages', 'a retry is no repeat of what was given', async () => {
  const { json } = await create({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ho' },
    ],
  })
  const { status } = await scene.send(json.id, 'hi', {}, { 'x-stainless-retry-count': '1' })
  expect([status, (await scene.messages(json.id)).length]).toEqual([200, 4])
})

verifies(
  'contract-11.patch',
  'title and metadata change, each by itself, and the session comes to the top',
  async () => {
    const { json: session } = await create({ user: 'u', metadata: { a: '1', b: '2' }, title: 'Old' })
    await create({})
    const titled = await patch(session.id, { title: 'New' })
    expect([titled.status, titled.json]).toEqual([200, { ...session, title: 'New', updated_at: expect.any(String) }])
    expect(Date.parse(titled.json.updated_at)).toBeGreaterThanOrEqual(Date.parse(session.updated_at))
    expect((await scene.call('GET', scene.sessions)).json.sessions[0].id).toBe(session.id)
    expect((await patch(session.id, { metadata: { c: '3' } })).json).toMatchObject({
      title: 'New',
      metadata: { c: '3' },
    })
    expect((await patch(session.id, { metadata: null })).json).toMatchObject({ title: 'New', metadata: {} })
    const unchanged = await read(session.id)
    expect((await patch(session.id, { user: 'another' })).status, 'nothing else').toBe(400)
    for (const body of [{ title: '' }, { title: 5 }, { metadata: { a: 1 } }, { metadata: [] }, [], 'x']) {
      const { status, json } = await patch(session.id, JSON.stringify(body))
      expect([body, status, json]).toEqual([body, 400, refusedRequest()])
    }
    for (const id of [nobody, 'not-a-uuid']) expect((await patch(id, { title: 'x' })).status).toBe(404)
    const other = `/api/v1/agents/${(await createAgent(scene.app)).agentId}/deploy/sessions/${session.id}`
    expect((await scene.call('PATCH', other, { title: 'x' })).status).toBe(404)
    expect(await read(session.id)).toEqual(unchanged)
  },
)

verifies('contract-11.patch', 'a cleared title is derived again: at once, or after the first reply', async () => {
  const { json: spoken } = await create({ title: 'Given' })
  await scene.send(spoken.id, 'What was asked first')
  await scene.send(spoken.id, 'What was asked next')
  expect((await patch(spoken.id, { title: null })).json.title).toBe('What was asked first')
  const { json: silent } = await create({ title: 'Given' })
  expect((await patch(silent.id, { title: null })).json.title).toBeNull()
  await scene.send(silent.id, 'Asked after that')
  expect((await read(silent.id)).title).toBe('Asked after that')
  const { json: seeded } = await create({ title: 'Given', messages: [{ role: 'user', content: 'From a history' }] })
  expect((await patch(seeded.id, { title: null, metadata: { a: 'b' } })).json).toMatchObject({
    title: 'From a history',
    metadata: { a: 'b' },
  })
})

verifies('contract-25.titles', 'a history that is given is what the title is derived from, at once', async () => {
  const messages = [
    { role: 'assistant', content: 'Welcome' },
    { role: 'user', content: 'From a history' },
  ]
  expect((await create({ messages })).json.title).toBe('From a history')
  expect((await create({ messages, title: 'Given' })).json.title).toBe('Given')
  expect((await create({ messages: messages.slice(0, 1) })).json.title).toBeNull()
})

verifies('contract-11.sessions', 'updated_at moves with a message and with the end of its reply', async () => {
  const { json } = await create({})
  const next = scene.byHand()
  const stream = await scene.stream(json.id, 'x')
  const call = await next
  const begun = await read(json.id)
  expect(Date.parse(begun.updated_at)).toBeGreaterThan(Date.parse(json.updated_at))
  await call.text('a')
  await call.finish()
  await stream.rest()
  expect(Date.parse((await read(json.id)).updated_at)).toBeGreaterThan(Date.parse(begun.updated_at))
  scene.says(['Fine.'])
})
