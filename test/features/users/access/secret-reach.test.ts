/** Contract section 11: what a client secret opens, and every way in which it does not open anything else. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { call, nobody } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, DEPLOY_KEY, forge, openFrontDoor, partsOf, say } from './front-door-scene.ts'

const scene = await openFrontDoor()
afterAll(scene.close)

const WORDS = 'her own words'
scene.says('and ', 'an answer')
const [hers, nobodys] = [await scene.session('ben'), await scene.session(null)]
const elsewhere = await scene.newAgent()
const there = await scene.session('anna', elsewhere)
for (const id of [hers, nobodys]) {
  await scene.asKey('POST', `${scene.deploy()}/sessions/${id}/chat/completions`, say(WORDS))
}
await scene.asKey('POST', `${scene.deploy(elsewhere)}/sessions/${there}/chat/completions`, say(WORDS))
const [hisOwn, second] = [await scene.session('anna'), await scene.session('anna')]

const secret = await scene.secret('anna')
const oneSession = await scene.secret('anna', { session_id: hisOwn })
const as = (token: string, method: string, path: string, body?: unknown) => scene.as(token, method, path, body)

/** What there is below a session: method, path, body. */
const below: [string, string, unknown][] = [
  ['GET', '', undefined],
  ['HEAD', '', undefined],
  ['PATCH', '', { title: 'mine now' }],
  ['PATCH', '', { nonsense: true, metadata: 7 }],
  ['DELETE', '', undefined],
  ['PUT', '', {}],
  ['GET', '/messages', undefined],
  ['GET', '/messages?limit=1', undefined],
  ['GET', '/messages?limit=0', undefined],
  ['POST', '/chat/completions', say('let me in')],
  ['POST', '/chat/completions', say('let me in', { stream: true })],
  ['POST', '/chat/completions', say('let me in', { stream: true, on_busy: 'interrupt' })],
  ['POST', '/chat/completions', {}],
  ['GET', '/chat/completions/stream', undefined],
  ['GET', '/chat/completions/stream?nothing=1', undefined],
  ['POST', '/chat/completions/cancel', undefined],
  ['POST', '/head', { message_id: nobody }],
  ['POST', '/actions', { decisions: [] }],
]

/** Everything but what names the request itself. */
const comparable = ({ status, text, headers }: Awaited<ReturnType<typeof call>>, id: string) => ({
  status,
  text: text.replaceAll(id, '<id>'),
  headers: [...headers.entries()].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name)),
})

verifies(
  'contract-11.reach',
  'a secret opens its user’s sessions: create, list, read, change, send, resume, cancel, delete',
  async () => {
    const user = 'all his own'
    const token = await scene.secret(user)
    const sessions = `${scene.deploy()}/sessions`
    const id = randomUUID().toUpperCase()
    const made = await as(token, 'POST', sessions, { id, title: 'Mine', metadata: { a: 'b' } })
    expect(made.json).toMatchObject({ id: id.toLowerCase(), user, title: 'Mine', metadata: { a: 'b' } })
    expect((await as(token, 'POST', sessions, { user })).json.user).toBe(user)
    expect((await as(token, 'POST', sessions)).json.user).toBe(user)
    const { json: list } = await as(token, 'GET', sessions)
    expect([list.total, new Set(list.sessions.map((one: { user: string }) => one.user))]).toEqual([3, new Set([user])])
    expect((await as(token, 'GET', `${sessions}?user=ben`)).json).toMatchObject({ sessions: [], total: 0 })
    const own = `${sessions}/${id}`
    expect((await as(token, 'GET', own)).status).toBe(200)
    expect((await as(token, 'PATCH', own, { title: 'Still mine' })).json.title).toBe('Still mine')
    expect((await as(token, 'POST', `${own}/chat/completions`, say('hi'))).status).toBe(200)
    expect((await as(token, 'GET', `${own}/messages`)).json.messages).toHaveLength(2)
    expect((await as(token, 'GET', `${own}/chat/completions/stream`)).status).toBe(200)
    expect((await as(token, 'POST', `${own}/chat/completions/cancel`)).status).toBe(204)
    expect((await as(token, 'DELETE', own)).status).toBe(204)
    expect((await as(token, 'GET', own)).status).toBe(404)
  },
)

verifies(
  'contract-11.reach',
  'a session of another user, of nobody or of another agent answers exactly as an unknown one',
  async () => {
    let attempts = 0
    const unknown = randomUUID()
    for (const [method, path, body] of below) {
      const url = (id: string) => `${scene.deploy()}/sessions/${id}${path}`
      const expected = comparable(await as(secret, method, url(unknown), body), unknown)
      expect(expected.status).toBeGreaterThanOrEqual(400)
      for (const id of [hers, nobodys, there, hers.toUpperCase()]) {
        attempts += 1
        const answer = await as(secret, method, url(id), body)
        expect([method, path, comparable(answer, id)]).toEqual([method, path, expected])
      }
      // For one session: the user's others are as strange.
      for (const id of [second, hers]) {
        attempts += 1
        const answer = await as(oneSession, method, url(id), body)
        expect([method, path, comparable(answer, id)]).toEqual([method, path, expected])
      }
    }
    expect(attempts).toBeGreaterThanOrEqual(60)
  },
)

verifies(
  'contract-11.reach',
  'what needs the deploy key is 403, before its body is read and whatever it names',
  async () => {
    const deploy = scene.deploy()
    const attempts: [string, string, string, unknown][] = [
      [secret, 'POST', `${deploy}/chat/completions`, say('hi')],
      [secret, 'POST', `${deploy}/chat/completions`, '{broken'],
      [secret, 'POST', `${deploy}/client_secrets`, { user: 'anna' }],
      [secret, 'POST', `${deploy}/client_secrets`, { user: 'ben' }],
      [secret, 'POST', `${deploy}/users/anna/revoke`, undefined],
      [secret, 'POST', `${deploy}/users/ben/revoke`, undefined],
      [secret, 'DELETE', `${deploy}/users/anna`, undefined],
      [secret, 'DELETE', `${deploy}/users/ben`, undefined],
      [secret, 'GET', `${deploy}/users/anna/export`, undefined],
      [secret, 'GET', `${deploy}/users/ben/export`, undefined],
      [secret, 'GET', `${deploy}/models`, undefined],
      [secret, 'GET', '/api/v1/openai/models', undefined],
      [secret, 'POST', '/api/v1/openai/chat/completions', say('hi', { model: scene.agentId })],
      [secret, 'GET', '/api/v1/openai/anything', undefined],
      [secret, 'POST', `${deploy}/sessions`, { user: 'ben' }],
      [secret, 'POST', `${deploy}/sessions`, { user: 'ANNA' }],
      [secret, 'POST', `${deploy}/sessions`, { messages: [{ role: 'user', content: 'x' }] }],
      [secret, 'POST', `${deploy}/sessions`, { messages: [] }],
      [oneSession, 'POST', `${deploy}/sessions`, {}],
      [oneSession, 'GET', `${deploy}/sessions`, undefined],
      [oneSession, 'POST', `${deploy}/chat/completions`, say('hi')],
    ]
    for (const [token, method, path, body] of attempts) {
      const { status, json } = await as(token, method, path, body)
      expect([method, path, status, json]).toEqual([method, path, 403, { error: expect.any(String) }])
    }
    const own = `${deploy}/sessions/${hisOwn}`
    expect((await as(oneSession, 'GET', own)).status).toBe(200)
    expect((await as(oneSession, 'GET', own.toUpperCase().replace(/^.*SESSIONS/, `${deploy}/sessions`))).status).toBe(
      200,
    )
  },
)

verifies(
  'contract-11.reach',
  'other agents, management and bad tokens are 401: stale, tampered, unsigned, of another key',
  async () => {
    const { header, claims } = partsOf(secret)
    const later = { ...claims, exp: Math.floor(Date.now() / 1000) + 7200 }
    const tokens = [
      forge({ ...header, alg: 'none' }, later, null),
      forge({ alg: 'none', typ: 'JWT' }, { ...later, sub: 'ben' }, null),
      forge(header, { ...later, sub: 'ben' }, 'mine'),
      forge({ ...header, alg: 'HS512' }, later, 'mine'),
      forge({ ...header, jwk: { kty: 'oct', k: 'bWluZQ' } }, later, 'mine'),
      forge({ ...header, kid: '../../dev/null' }, later, ''),
      `${secret}A`,
      secret.replace('.', '..'),
    ]
    const paths = [
      `${scene.deploy()}/sessions`,
      `${scene.deploy()}/sessions/${hers}/messages`,
      `${scene.deploy()}/nothing`,
    ]
    for (const token of tokens) {
      for (const path of paths) {
        const { status, json } = await as(token, 'GET', path)
        expect([path, status, json.error.code]).toEqual([path, 401, 'invalid_api_key'])
      }
    }
    for (const [method, path, body] of [
      ['GET', `${scene.deploy(elsewhere)}/sessions`, undefined],
      ['GET', `${scene.deploy(elsewhere)}/sessions/${there}`, undefined],
      ['POST', `${scene.deploy(elsewhere)}/sessions/${there}/chat/completions`, say('x')],
      ['POST', `${scene.deploy(nobody)}/chat/completions`, say('x')],
      ['GET', '/api/v1/agents', undefined],
      ['GET', `/api/v1/agents/${scene.agentId}/playground/sessions`, undefined],
      ['GET', `/api/v1/agents/${scene.agentId}/playground/sessions/${hers}/messages`, undefined],
      ['POST', `/api/v1/agents/${scene.agentId}/playground/chat`, { message: 'x', sessionId: hers }],
      ['GET', `/api/v1/debug/sessions/${hers}/transitions`, undefined],
      ['GET', '/api/v1/debug/actors', undefined],
      ['PUT', `/api/v1/agents/${scene.agentId}`, { name: 'mine' }],
      ['GET', '/api/v1/usage', undefined],
      ['GET', '/openapi.json', undefined],
    ] as const) {
      expect([path, (await as(secret, method, path, body)).status]).toEqual([path, 401])
    }
  },
)

verifies(
  'contract-11.reach',
  'a taken id cannot be made, and nothing of it is shown; nothing was changed by any of this',
  async () => {
    for (const id of [hers, nobodys, there]) {
      const { status, text } = await as(secret, 'POST', `${scene.deploy()}/sessions`, { id })
      expect([status, text.includes(WORDS)]).toEqual([409, false])
    }
    for (const [agent, id] of [
      [scene.agentId, hers],
      [scene.agentId, nobodys],
      [elsewhere, there],
    ] as const) {
      const path = `${scene.deploy(agent)}/sessions/${id}`
      expect((await scene.asKey('GET', path)).json.title).toBe(WORDS)
      const { messages } = (await scene.asKey('GET', `${path}/messages`)).json
      expect(messages.map(({ content }: { content: string }) => content)).toEqual([WORDS, 'and an answer'])
    }
  },
)

verifies('contract-11.reach', 'a key or a retry of another user’s session joins nothing', async () => {
  const playing = scene.byHand()
  const url = `${scene.here.url}${scene.deploy()}/sessions/${hers}/chat/completions`
  const running = call(url, 'POST', say('private'), { ...bearer(DEPLOY_KEY), 'idempotency-key': 'k' })
  const provider = await playing
  await provider.text('secret words')
  for (const headers of [{ 'idempotency-key': 'k' }, { 'x-stainless-retry-count': '1' }] as Record<string, string>[]) {
    const answer = await call(url, 'POST', say('private'), { ...bearer(secret), ...headers })
    expect([answer.status, answer.json]).toEqual([404, { error: 'There is no such session.' }])
  }
  await provider.finish()
  expect((await running).status).toBe(200)
})
