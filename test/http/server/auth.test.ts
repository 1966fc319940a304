/** Specification 5.1, contract section 3: the deploy API's bearer key. */
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { nobody, openScene } from '../scene.ts'

const key = 'the-current-key'
const previous = 'the-one-before'
const scene = await openScene({ settings: { PUBLIC_API_KEY: key, PUBLIC_API_KEY_PREVIOUS: previous } })
const open = await openScene()
const login = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
afterAll(() => Promise.all([scene.close(), open.close(), login.close()]))

const bearer = (text: string) => ({ authorization: text })
const body = { messages: [{ role: 'user', content: 'x' }] }
const session = `${scene.sessions}/${nobody}`

const endpoints: [string, string, unknown][] = [
  ['POST', `${scene.agent}/deploy/chat/completions`, body],
  ['POST', scene.sessions, {}],
  ['GET', scene.sessions, undefined],
  ['GET', session, undefined],
  ['DELETE', session, undefined],
  ['GET', `${session}/messages`, undefined],
  ['POST', `${session}/chat/completions`, body],
  ['GET', `${session}/chat/completions/stream`, undefined],
  ['POST', `${session}/chat/completions/cancel`, undefined],
]

/** The one error of the deploy API that is an object. */
const refused = { error: { message: expect.any(String), type: 'invalid_request_error', code: 'invalid_api_key' } }

verifies(
  ['spec-5.1.bearer', 'spec-7.1.errors'],
  'a missing or wrong key is 401 in the object format, at every endpoint',
  async () => {
    for (const [method, path, sent] of endpoints) {
      for (const headers of [
        {},
        bearer('Bearer wrong'),
        bearer(`Bearer ${key}x`),
        bearer(`Bearer ${key.slice(0, -1)}`),
        bearer(`Bearer ${key.toUpperCase()}`),
        bearer('Bearer '),
        bearer(''),
        bearer(key),
        bearer(`Basic ${Buffer.from(`x:${key}`).toString('base64')}`),
        { 'x-api-key': key },
        { cookie: `greenroom_session=${key}` },
      ] as Record<string, string>[]) {
        const { status, json } = await scene.call(method, path, sent, headers)
        expect([method, path, headers, status, json]).toEqual([method, path, headers, 401, refused])
      }
    }
  },
)

test('a key in another place is named with its place, and never repeated', async () => {
  const path = `${scene.agent}/deploy/chat/completions`
  for (const [place, headers, query] of [
    ['x-api-key', { 'x-api-key': key }, ''],
    ['api-key', { 'api-key': key }, ''],
    ['api_key', {}, `?api_key=${key}`],
    ['Authorization holds no bearer', bearer(key), ''],
  ] as [string, Record<string, string>, string][]) {
    const { json } = await scene.call('POST', `${path}${query}`, body, headers)
    expect(json.error.message).toContain(place)
    expect(json.error.message).toContain('send Authorization: Bearer <key>')
    expect(json.error.message).not.toContain(key)
  }
})

verifies('spec-5.1.bearer', 'the current and the previous key are accepted', async () => {
  scene.says(['ok'])
  for (const one of [`Bearer ${key}`, `bearer ${key}`, `Bearer   ${key}`, `Bearer ${previous}`]) {
    expect((await scene.stateless(body.messages, {}, bearer(one))).status).toBe(200)
    const made = await scene.call('POST', scene.sessions, {}, bearer(one))
    expect(made.status).toBe(201)
    const { status } = await scene.send(made.json.id, 'x', {}, bearer(one))
    expect(status).toBe(200)
  }
})

verifies(
  'contract-3.auth-first',
  '401 comes before 404, 400, 413 and 415, and for unknown paths below deploy',
  async () => {
    const unknown = `/api/v1/agents/${nobody}/deploy`
    for (const [method, path, sent, headers] of [
      ['POST', `${unknown}/chat/completions`, body, {}],
      ['POST', `${scene.agent}/deploy/chat/completions`, { messages: [] }, {}],
      ['POST', `${scene.agent}/deploy/chat/completions`, '{broken', {}],
      ['POST', `${scene.agent}/deploy/chat/completions`, 'x', { 'content-type': 'text/plain' }],
      ['GET', `${scene.sessions}?limit=0`, undefined, {}],
      ['GET', `${unknown}/sessions`, undefined, {}],
      ['GET', unknown, undefined, {}],
      ['GET', `${unknown}/`, undefined, {}],
      ['GET', `${unknown}/models`, undefined, {}],
      ['PUT', `${unknown}/sessions`, {}, {}],
      ['POST', `${unknown}/no/such/path`, '{broken', {}],
      ['GET', '/api/v1/agents/x/deploy/%00', undefined, {}],
      ['GET', '/api/v1/agents/%E0%A4%A/deploy/sessions', undefined, {}],
      ['GET', `${scene.sessions}/%zz`, undefined, {}],
    ] as [string, string, unknown, Record<string, string>][]) {
      const { status, json } = await scene.call(method, path, sent, headers)
      expect([method, path, status, json]).toEqual([method, path, 401, refused])
    }
  },
)

verifies(
  ['contract-3.auth-first', 'spec-7.1.errors'],
  'with the key, unknown paths below deploy are 404 {error}',
  async () => {
    for (const [method, path] of [
      ['GET', `${scene.agent}/deploy`],
      ['GET', `${scene.agent}/deploy/nothing`],
      ['PUT', scene.sessions],
      ['DELETE', scene.sessions],
      ['GET', `${scene.agent}/deploy/chat/completions`],
      ['PATCH', `${scene.sessions}/${nobody}/messages`],
    ] as const) {
      const { status, json } = await scene.call(method, path, undefined, bearer(`Bearer ${key}`))
      expect([method, path, [404, 405].includes(status), json]).toEqual([
        method,
        path,
        true,
        { error: expect.any(String) },
      ])
    }
  },
)

test('management asks for the login before it says that a path cannot be read', async () => {
  const { headers } = await login.call('POST', '/api/auth/login', { username: 'anna', password: 'secret-word' })
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  for (const path of ['/api/%zz', '/api/v1/prompts/%zz?q=%', `/api/v1/agents/%E0%A4%A/tools`]) {
    expect([path, (await login.call('GET', path)).status]).toEqual([path, 401])
    const { status, json } = await login.call('GET', path, undefined, { cookie })
    expect([path, status, json]).toEqual([path, 404, { message: expect.any(String) }])
  }
})

verifies('spec-5.1.bearer', 'the key opens nothing else and closes nothing else', async () => {
  for (const path of [
    '/api/v1/agents',
    '/api/v1/prompts',
    `${scene.agent}/playground/sessions`,
    '/livez',
    '/readyz',
    '/',
  ]) {
    expect([path, (await scene.call('GET', path)).status]).toEqual([path, 200])
  }
  const management = await login.call('GET', '/api/v1/agents', undefined, bearer('Bearer anna:secret-word'))
  expect([management.status, management.json]).toEqual([401, { message: expect.any(String) }])
})

verifies(
  'spec-5.1.bearer',
  'without PUBLIC_API_KEY deploy is open, also where management asks for a login',
  async () => {
    for (const one of [open, login]) {
      one.says(['ok'])
      expect((await one.stateless(body.messages)).status).toBe(200)
      expect((await one.stateless(body.messages, {}, bearer('Bearer whatever'))).status).toBe(200)
      expect((await one.call('POST', one.sessions, {})).status).toBe(201)
    }
    expect((await login.call('GET', `${login.agent}/playground/sessions`)).status).toBe(401)
  },
)

verifies(
  'contract-35.challenge',
  'our own 401 carries a challenge, which says whether a credential was sent',
  async () => {
    const given = async (path: string, headers: Record<string, string> = {}) =>
      (await scene.call('GET', path, undefined, headers)).headers.get('www-authenticate')
    for (const path of [scene.sessions, `${scene.agent}/deploy/ai-sdk/${nobody}/messages`, '/api/v1/openai/models']) {
      expect([path, await given(path)]).toEqual([path, 'Bearer realm="greenroom"'])
      expect(await given(path, bearer('Bearer wrong'))).toBe('Bearer realm="greenroom", error="invalid_token"')
    }
    const stream = `${session}/chat/completions/stream?access_token=wrong`
    expect(await given(stream)).toBe('Bearer realm="greenroom", error="invalid_token"')
  },
)
