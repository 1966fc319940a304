/** Specification 2.8, 2.9, 4.12 and 8: sessions and their messages as resources. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { isoUtc, nobody, openScene, uuid } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

const otherAgent = async () => `/api/v1/agents/${(await createAgent(scene.app)).agentId}/deploy/sessions`

verifies('spec-2.8.session', 'create answers 201 with exactly these fields, read answers the same', async () => {
  for (const [body, title] of [
    [{ title: 'Mine' }, 'Mine'],
    [{}, null],
    [{ title: null }, null],
    [undefined, null],
  ] as const) {
    const { status, json } = await scene.call('POST', scene.sessions, body)
    expect([body, status]).toEqual([body, 201])
    expect(json).toEqual({
      id: expect.stringMatching(uuid),
      agent_id: scene.agentId,
      title,
      user: null,
      metadata: {},
      external_id: null,
      agent_version: null,
      archived: false,
      head_id: null,
      forked_from: null,
      parent: null,
      pending: [],
      created_at: expect.stringMatching(isoUtc),
      updated_at: expect.stringMatching(isoUtc),
    })
    const read = await scene.call('GET', `${scene.sessions}/${json.id}`)
    expect([read.status, read.json]).toEqual([200, json])
  }
})

verifies('spec-2.8.session', 'a title has 1 to 200 characters, counted as code points', async () => {
  for (const title of ['', 'x'.repeat(201), 5, [], {}, true]) {
    const { status, json } = await scene.call('POST', scene.sessions, { title })
    expect([title, status, json]).toEqual([title, 400, refusedRequest('title')])
  }
  const longest = '😀'.repeat(200)
  expect((await scene.call('POST', scene.sessions, { title: longest })).json.title).toBe(longest)
  for (const body of [[], 'x', 5, null]) {
    const { status, json } = await scene.call('POST', scene.sessions, JSON.stringify(body))
    expect([body, status, json]).toEqual([body, 400, refusedRequest()])
  }
})

verifies('spec-2.9.message', 'messages have exactly these fields, and finish_reason', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'How are you?')
  const messages = await scene.messages(id)
  const common = { id: expect.stringMatching(uuid), session_id: id, created_at: expect.stringMatching(isoUtc) }
  const reply = { role: 'assistant', content: 'Fine.', status: 'complete', finish_reason: 'stop' }
  expect(messages).toEqual([
    { ...common, parent_id: null, role: 'user', content: 'How are you?', status: 'complete', finish_reason: null },
    { ...common, parent_id: messages[0].id, ...reply },
  ])
})

verifies(
  ['spec-4.12.messages', 'spec-2.9.message'],
  'a running reply is listed as streaming, with what it has so far',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    await up.text('Par')
    await stream.next()
    await stream.next()
    expect((await scene.messages(id)).at(-1)).toMatchObject({
      content: 'Par',
      status: 'streaming',
      finish_reason: null,
    })
    await up.text('tial')
    await up.finish()
    await stream.rest()
    expect((await scene.messages(id)).at(-1)).toMatchObject({
      content: 'Partial',
      status: 'complete',
      finish_reason: 'stop',
    })
    scene.says(['Fine.'])
  },
)

verifies('spec-4.12.messages', 'messages are oldest first, and none in a new session', async () => {
  const id = await scene.newSession()
  const empty = await scene.call('GET', `${scene.sessions}/${id}/messages`)
  expect([empty.status, empty.json]).toEqual([200, { messages: [] }])
  for (const text of ['1', '2', '3']) await scene.send(id, text)
  expect((await scene.messages(id)).map(({ content }) => content)).toEqual(['1', 'Fine.', '2', 'Fine.', '3', 'Fine.'])
})

verifies('spec-4.12.stateful', 'only the last element counts, the history is the stored one', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'First')
  const messages = [
    { role: 'user', content: 'never said' },
    { role: 'assistant', content: 'never answered' },
    { role: 'user', content: 'Second' },
  ]
  expect((await scene.send(id, '', { messages })).status).toBe(200)
  const history = [
    { role: 'user', content: 'First' },
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'Second' },
  ]
  expect(scene.up.calls.at(-1)?.body.messages).toEqual(history)
  expect((await scene.messages(id)).map(({ role, content }) => ({ role, content }))).toEqual([
    ...history,
    { role: 'assistant', content: 'Fine.' },
  ])
})

verifies(
  ['spec-4.12.stateful', 'spec-7.1.errors'],
  'a last message of another role, or a system message anywhere, is 400',
  async () => {
    const id = await scene.newSession()
    const user = { role: 'user', content: 'x' }
    for (const messages of [
      [],
      [user, { role: 'assistant', content: 'y' }],
      [{ role: 'system', content: 'y' }, user],
      [{ role: 'developer', content: 'y' }, user],
      [user, { role: 'system', content: 'y' }],
      [{ role: 'user', content: [{ type: 'image_url' }] }],
    ]) {
      const { status, json } = await scene.send(id, '', { messages })
      expect([messages, status, json]).toEqual([messages, 400, refusedRequest()])
    }
    expect(await scene.messages(id)).toEqual([])
  },
)

verifies('spec-4.12.list', 'the list is most recently updated first and holds every session of the agent', async () => {
  const base = await otherAgent()
  const create = async (path: string) => (await scene.call('POST', path, {})).json.id
  const a = await create(base)
  const b = await create(base.replace('/deploy/', '/playground/'))
  const c = await create(base)
  const ids = async () => (await scene.call('GET', base)).json.sessions.map(({ id }: { id: string }) => id)
  expect(await ids()).toEqual([c, b, a])
  await scene.call('POST', `${base}/${a}/chat/completions`, { messages: [{ role: 'user', content: '/echo x' }] })
  expect(await ids()).toEqual([a, c, b])
})

verifies(
  ['spec-8.limits', 'spec-4.12.list'],
  'limit defaults to 20 and is capped at 100, offset defaults to 0',
  async () => {
    const base = await otherAgent()
    await scene.app.sql`insert into sessions (agent_id, title)
    select ${base.split('/')[4] ?? ''}, 'S' || n from generate_series(1, 105) n`
    const list = async (query: string) => (await scene.call('GET', `${base}${query}`)).json
    const first = await list('')
    expect(Object.keys(first).sort()).toEqual(['limit', 'offset', 'sessions', 'total'])
    expect([first.sessions.length, first.total, first.limit, first.offset]).toEqual([20, 105, 20, 0])
    for (const limit of ['100', '101', '9007199254740993', '99999999999999999999999999']) {
      const { sessions, limit: told } = await list(`?limit=${limit}`)
      expect([limit, sessions.length, told]).toEqual([limit, 100, 100])
    }
    const all = [...(await list('?limit=100')).sessions, ...(await list('?limit=100&offset=100')).sessions]
    expect(new Set(all.map(({ id }) => id)).size).toBe(105)
    expect((await list('?offset=105')).sessions).toEqual([])
    expect((await list('?limit=1&offset=3')).sessions).toEqual([all[3]])
  },
)

verifies(
  ['spec-8.limits', 'spec-7.1.errors'],
  'anything but a whole number in range is 400, a huge offset is empty',
  async () => {
    for (const value of [
      '0',
      '-1',
      '1.5',
      'abc',
      '',
      '1e1',
      '0x10',
      '%20',
      '+1',
      'NaN',
      '5;drop',
      '٣',
      'null',
      '1&limit=2',
    ]) {
      const { status, json } = await scene.call('GET', `${scene.sessions}?limit=${value}`)
      expect([value, status, json]).toEqual([value, 400, refusedRequest('limit')])
    }
    for (const value of ['-1', '1.5', 'abc', '', '-9007199254740993']) {
      const { status, json } = await scene.call('GET', `${scene.sessions}?offset=${value}`)
      expect([value, status, json]).toEqual([value, 400, refusedRequest('offset')])
    }
    for (const value of ['9007199254740991', '9223372036854775807', '9223372036854775808', '9'.repeat(400)]) {
      const { status, json } = await scene.call('GET', `${scene.sessions}?offset=${value}`)
      expect([value.length, [200, 400].includes(status), json.sessions ?? []]).toEqual([value.length, true, []])
    }
  },
)

verifies(
  ['spec-4.12.list', 'spec-7.1.errors', 'spec-4.12.messages'],
  'unknown agents and sessions, and those of another agent, are 404',
  async () => {
    const mine = await scene.newSession()
    await scene.send(mine, 'x')
    const other = await otherAgent()
    const message = { messages: [{ role: 'user', content: 'x' }] }
    const unknown = [`/api/v1/agents/${nobody}/deploy/sessions`, '/api/v1/agents/x/deploy/sessions']
    for (const path of unknown) {
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', {}],
      ] as const) {
        const { status, json } = await scene.call(method, path, body)
        expect([path, method, status, json]).toEqual([path, method, 404, { error: expect.any(String) }])
      }
    }
    for (const one of [
      `${other}/${mine}`,
      `${scene.sessions}/${nobody}`,
      `${scene.sessions}/x`,
      `${unknown[0]}/${mine}`,
    ]) {
      for (const [method, path, body] of [
        ['GET', one, undefined],
        ['GET', `${one}/messages`, undefined],
        ['POST', `${one}/chat/completions`, message],
        ['POST', `${one}/chat/completions`, { ...message, stream: true }],
        ['GET', `${one}/chat/completions/stream`, undefined],
        ['POST', `${one}/chat/completions/cancel`, undefined],
        ['DELETE', one, undefined],
      ] as const) {
        const { status, json } = await scene.call(method, path, body)
        expect([method, path, status, json]).toEqual([method, path, 404, { error: expect.any(String) }])
      }
    }
    expect((await scene.messages(mine)).length).toBe(2)
  },
)

verifies('spec-4.12.delete', 'delete answers 204 and takes the messages along', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'x')
  const gone = await scene.call('DELETE', `${scene.sessions}/${id}`)
  expect([gone.status, gone.text]).toEqual([204, ''])
  expect((await scene.call('GET', `${scene.sessions}/${id}`)).status).toBe(404)
  expect((await scene.call('GET', `${scene.sessions}/${id}/messages`)).status).toBe(404)
  expect((await scene.call('DELETE', `${scene.sessions}/${id}`)).status).toBe(404)
  expect((await scene.app.sql`select 1 from messages where session_id = ${id}`).length).toBe(0)
})

verifies(
  ['contract-4.title', 'contract-25.titles'],
  'the title comes from the first message when it is admitted; a given one stays',
  async () => {
    const title = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json.title
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(
      id,
      '  Please compare\nthese two quotations from my suppliers and tell me which one is cheaper',
    )
    const up = await next
    expect(await title(id)).toBe('Please compare these two quotations from my suppliers and')
    await up.finish()
    await stream.rest()
    expect(await title(id)).toBe('Please compare these two quotations from my suppliers and')
    scene.says(['Fine.'])
    await scene.send(id, 'Another matter')
    expect(await title(id)).toBe('Please compare these two quotations from my suppliers and')
    const given = await scene.newSession('Given')
    await scene.send(given, 'Something else')
    expect(await title(given)).toBe('Given')
    const oneWord = await scene.newSession()
    await scene.send(oneWord, '😀'.repeat(80))
    expect(await title(oneWord)).toBe('😀'.repeat(60))
  },
)
