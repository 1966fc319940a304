/** Login and its cookie: contract section 2, specification 4.2 and 5.2. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashPassword } from '../../../../src/features/users/login/password.ts'
import type { Answer, Server } from '../../../http/management/server.ts'
import { verifies } from '../../../verifies.ts'
import { login, openLoginScene, setCookies } from './login-scene.ts'

const { database, start, startWith } = openLoginScene()

const cookieOf = (answer: Answer): string => setCookies(answer)[0]?.split(';')[0] ?? ''
const me = (server: Server, cookie: string) => server.call('GET', '/api/auth/me', undefined, { cookie })

describe('without AUTH_CREDENTIALS', () => {
  verifies(
    ['spec-4.2.login', 'spec-5.2.management-login'],
    'nothing requires a login, and there is no user',
    async () => {
      const server = await startWith({})
      expect((await server.call('GET', '/api/auth/status')).json).toEqual({
        authRequired: false,
        authenticated: true,
        methods: [],
        oidcUrl: null,
      })
      expect(await server.call('GET', '/api/auth/me')).toMatchObject({ status: 200, json: { username: null } })
      expect((await server.call('GET', '/api/v1/prompts')).status).toBe(200)
      expect((await server.call('POST', '/api/auth/logout')).status).toBe(204)
      expect((await login(server, 'ann', 'correct:horse')).status).toBe(401)
    },
  )
})

verifies(
  ['spec-4.2.login', 'spec-5.2.management-login', 'spec-7.2.management-errors'],
  'management requires a login with 401 {message}, status and login do not',
  async () => {
    const server = await start()
    for (const [method, path] of [
      ['GET', '/api/v1/prompts'],
      ['POST', '/api/v1/prompts'],
      ['GET', '/api/v1/provider-types'],
      ['DELETE', '/api/v1/agents/x'],
      ['GET', '/api/auth/me'],
    ] as const) {
      for (const cookie of ['', 'greenroom_session=', 'greenroom_session=wrong', 'other=1']) {
        const { status, json } = await server.call(method, path, undefined, cookie ? { cookie } : {})
        expect(status, path).toBe(401)
        expect(json).toEqual({ message: expect.any(String) })
      }
    }
    expect((await server.call('GET', '/api/auth/status')).json).toEqual({
      authRequired: true,
      authenticated: false,
      methods: ['password'],
      oidcUrl: null,
    })
  },
)

verifies(
  ['spec-4.2.login', 'spec-5.2.management-login', 'contract-2.login-cookie'],
  'the right password sets the cookie, which gives access to management',
  async () => {
    const server = await start()
    const answer = await login(server, 'ann', 'correct:horse')
    expect([answer.status, answer.json]).toEqual([200, { username: 'ann' }])
    const [cookie = '', ...others] = setCookies(answer)
    expect(others).toEqual([])
    const [pair = '', ...attributes] = cookie.split('; ')
    expect(pair).toMatch(/^greenroom_session=[\w-]{40,}$/)
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax'])
    expect(await me(server, pair)).toMatchObject({ status: 200, json: { username: 'ann' } })
    expect((await server.call('GET', '/api/v1/prompts', undefined, { cookie: pair })).status).toBe(200)
    const status = await server.call('GET', '/api/auth/status', undefined, { cookie: pair })
    expect(status.json).toEqual({ authRequired: true, authenticated: true, methods: ['password'], oidcUrl: null })
  },
)

verifies(
  'contract-2.login-cookie',
  'the cookie is Secure when a trusted proxy says that the request came over HTTPS',
  async () => {
    const answer = await login(await start(), 'ann', 'correct:horse', { 'x-forwarded-proto': 'https' })
    expect(setCookies(answer)[0]).toContain('; Secure')
  },
)

verifies('contract-2.login-cookie', 'the database holds a hash of the token, never the token', async () => {
  const server = await start()
  const token = cookieOf(await login(server, 'ann', 'correct:horse')).split('=')[1] ?? ''
  const rows = await database().sql`select * from logins`
  expect(rows).toHaveLength(1)
  expect(rows[0]?.token_hash).toEqual(createHash('sha256').update(token).digest())
  expect(JSON.stringify(rows)).not.toContain(token)
})

verifies('spec-4.2.login', 'logout ends the login on every instance and clears the cookie', async () => {
  const [here, there] = [await start(), await start()]
  const cookie = cookieOf(await login(here, 'ann', 'correct:horse'))
  expect((await me(there, cookie)).status).toBe(200)
  const answer = await here.call('POST', '/api/auth/logout', undefined, { cookie })
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect(setCookies(answer)[0]).toMatch(/^greenroom_session=; Max-Age=0/)
  expect((await me(here, cookie)).status).toBe(401)
  expect((await me(there, cookie)).status).toBe(401)
  expect((await here.call('POST', '/api/auth/logout')).status).toBe(204)
})

verifies(
  'contract-2.login-cookie',
  'a login survives a restart, and ends when its credential is changed or removed',
  async () => {
    const cookie = cookieOf(await login(await start(), 'ann', 'correct:horse'))
    expect((await me(await start(), cookie)).status).toBe(200)
    const hashed = await start({ credentials: [{ username: 'ann', password: await hashPassword('correct:horse') }] })
    for (const changed of [
      await start({ credentials: [{ username: 'ann', password: 'another' }] }),
      await start({ credentials: [{ username: 'bob', password: 'correct:horse' }] }),
      hashed,
    ]) {
      expect((await me(changed, cookie)).status).toBe(401)
    }
    const anew = await login(hashed, 'ann', 'correct:horse')
    expect((await me(hashed, cookieOf(anew))).status).toBe(200)
  },
)

describe('7 days sliding, 30 at most', () => {
  const age = (seen: string, created: string) =>
    database().sql`update logins set seen_at = clock_timestamp() - ${seen}::interval,
                             created_at = clock_timestamp() - ${created}::interval`

  test('use extends it, and its cookie', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('6 days 23 hours', '6 days 23 hours')
    const used = await me(server, cookie)
    expect(used.status).toBe(200)
    expect(setCookies(used)[0]).toMatch(/^greenroom_session=.+; Max-Age=60\d{4}; Path=\/; HttpOnly; SameSite=Lax/)
    const [row] = await database().sql`select seen_at > clock_timestamp() - interval '1 hour' as moved from logins`
    expect(row).toEqual({ moved: true })
    expect(setCookies(await me(server, cookie))).toEqual([])
  })

  verifies('contract-2.login-cookie', 'it ends after 7 days without use', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('7 days 1 second', '8 days')
    expect((await me(server, cookie)).status).toBe(401)
  })

  test('it ends after 30 days of any use, and so does the cookie', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('1 hour', '29 days')
    expect(setCookies(await me(server, cookie))[0]).toMatch(/Max-Age=86(400|39\d);/)
    await age('1 second', '30 days 1 second')
    expect((await me(server, cookie)).status).toBe(401)
    await login(server, 'ann', 'correct:horse')
    expect(await database().sql`select 1 from logins`).toHaveLength(1)
  })
})

describe('wrong credentials', () => {
  test.each([
    ['ann', 'wrong'],
    ['ann', ''],
    ['ann', 'correct:horse '],
    ['bob', 'correct:horse'],
    ['nobody', 'correct:horse'],
    ['', ''],
    ['__proto__', 'x'],
  ])('%j with %j is 401 {message}, without a cookie', async (username, password) => {
    const answer = await login(await start(), username, password)
    expect(answer.status).toBe(401)
    expect(answer.json).toEqual({ message: expect.any(String) })
    expect(setCookies(answer)).toEqual([])
  })

  test('known and unknown names get the same response, also with hashed passwords', async () => {
    const server = await start({ credentials: [{ username: 'ann', password: await hashPassword('x') }] })
    const answers = [await login(server, 'ann', 'wrong'), await login(server, 'nobody', 'wrong')]
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await login(server, 'ann', 'x')).status).toBe(200)
  })

  test.each([
    {},
    { username: 'ann' },
    { username: 1, password: 'x' },
    [],
    { username: 'a\0', password: 'x' },
  ])('a body %j is 400', async (body) => {
    expect((await (await start()).call('POST', '/api/auth/login', body)).status).toBe(400)
  })

  test('a name over 200 characters is 400 and not stored', async () => {
    expect((await login(await start(), 'x'.repeat(201), 'x')).status).toBe(400)
    expect(await database().sql`select 1 from login_failures`).toEqual([])
  })
})
