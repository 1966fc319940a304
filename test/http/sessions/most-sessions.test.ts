/** Contract section 35: how many sessions a user may have with an agent. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene } from '../scene.ts'

const settings = { MAX_USER_SESSIONS: '3' }
const scene = await openScene({ settings })
afterAll(scene.close)
scene.up.always(async (one) => {
  await one.text('Hi.')
  await one.finish()
})

type Post = (path: string, body: object) => ReturnType<typeof scene.call>
const here: Post = (path, body) => scene.call('POST', `${scene.agent}/deploy${path}`, body)
const make = (user: string | null, post = here) => post('/sessions', user === null ? {} : { user })
const listOf = async (user: string) => (await scene.call('GET', `${scene.sessions}?user=${user}`)).json.sessions
const text = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
const agUi = (user: string) => ({
  ...{ threadId: randomUUID(), runId: randomUUID(), context: [], state: {}, tools: [] },
  messages: [{ id: 'm', role: 'user', content: 'Hi' }],
  forwardedProps: { user },
})

/** Every request that makes a session of a user. */
const paths: Record<string, (user: string, post: Post) => ReturnType<typeof here>> = {
  sessions: (user, post) => make(user, post),
  history: (user, post) => post('/sessions', { user, messages: [{ role: 'user', content: 'Hi' }] }),
  responses: (user, post) => post('/responses', { input: 'Hi', safety_identifier: user }),
  'responses with a history': (user, post) =>
    post('/responses', {
      input: ['Hi', 'Ho'].map((content) => ({ role: 'user', content })),
      safety_identifier: user,
      metadata: { a: 'b' },
    }),
  'ai sdk': (user, post) => post('/ai-sdk', { id: randomUUID(), messages: [text], user }),
  'ag-ui': (user, post) => post('/ag-ui', agUi(user)),
}

const refusal = {
  error: {
    message: expect.stringContaining('MAX_USER_SESSIONS'),
    type: 'invalid_request_error',
    code: 'too_many_sessions',
    param: null,
  },
}

verifies(
  'contract-35.user-sessions',
  'one more is 429, on every path that makes one, and nothing is stored',
  async () => {
    for (const [name, send] of Object.entries(paths)) {
      const user = `of ${name}`
      for (let n = 0; n < 3; n++) expect((await send(user, here)).status, name).toBeLessThan(202)
      const refused = await send(user, here)
      expect([name, refused.status, refused.json]).toEqual([name, 429, refusal])
      expect(refused.headers.get('retry-after')).toBeNull()
      expect(await listOf(encodeURIComponent(user))).toHaveLength(3)
    }
  },
)

verifies(
  'contract-35.user-sessions',
  'a fork is one more; a deletion makes room, and a message needs none',
  async () => {
    const { id } = (await make('ann')).json
    const fork = () => here('/sessions', { fork_of: { session_id: id } })
    expect([(await fork()).status, (await fork()).status]).toEqual([201, 201])
    const refused = await fork()
    expect([refused.status, refused.json]).toEqual([429, refusal])
    const [session] = await listOf('ann')
    expect(
      (await here(`/sessions/${id}/chat/completions`, { messages: [{ role: 'user', content: 'Hi' }] })).status,
    ).toBe(200)
    expect((await here('/ai-sdk', { id, messages: [text], user: 'ann' })).status).toBe(200)
    expect((await scene.call('DELETE', `${scene.sessions}/${session.id}`)).status).toBe(204)
    expect((await make('ann')).status).toBe(201)
  },
)

verifies('contract-35.user-sessions', 'another user, and nobody, are not counted with them', async () => {
  for (let n = 0; n < 4; n++) expect((await make(null)).status).toBe(201)
  for (let n = 0; n < 3; n++) expect((await make('ben')).status).toBe(201)
  expect((await make('cleo')).status).toBe(201)
})

verifies('contract-35.user-sessions', 'of requests that come together no more pass, on two instances', async () => {
  const database = { url: scene.app.databaseUrl, sql: scene.app.sql, drop: async () => {} }
  await using there = await startTestApp({ settings, database })
  const elsewhere: Post = (path, body) => call(`${there.url}${scene.agent}/deploy${path}`, 'POST', body)
  for (const [name, send] of Object.entries(paths)) {
    const user = `together ${name}`
    const sent = await Promise.all(Array.from({ length: 12 }, (_, n) => send(user, n % 2 ? here : elsewhere)))
    expect(sent.filter(({ status }) => status < 202)).toHaveLength(3)
    expect(sent.filter(({ status }) => status === 429)).toHaveLength(9)
    expect(await listOf(encodeURIComponent(user))).toHaveLength(3)
  }
})
