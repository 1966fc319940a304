/** Login, its cookie and its limits: contract section 2, specification 4.2 and 5.2. */
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loginAddress } from '../../src/http/management/login-address.ts'
import { hashPassword } from '../../src/http/management/password.ts'
import { connect } from '../../src/persistence/postgres/database.ts'
import { beginAttempt } from '../../src/persistence/records/logins.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { verifies } from '../verifies.ts'
import { type Answer, type Options, type Server, startServer } from './server.ts'

const credentials = [
  { username: 'ann', password: 'correct:horse' },
  { username: 'bob', password: 'battery staple' },
]
let db: FreshDatabase
const servers: Server[] = []

beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
  await db.drop()
})

async function start(options: Partial<Options> = {}): Promise<Server> {
  const server = await startServer({ sql: db.sql, credentials, trustProxy: '127.0.0.1', ...options })
  servers.push(server)
  return server
}

const login = (server: Server, username: string, password: string, headers: Record<string, string> = {}) =>
  server.call('POST', '/api/auth/login', { username, password }, headers)
const setCookies = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat()
const cookieOf = (answer: Answer): string => setCookies(answer)[0]?.split(';')[0] ?? ''
const me = (server: Server, cookie: string) => server.call('GET', '/api/auth/me', undefined, { cookie })
const from = (address: string) => ({ 'x-forwarded-for': address })

describe('without AUTH_CREDENTIALS', () => {
  verifies(['spec-4.2.login', 'spec-5.2.management-login'], 'nothing needs a login and nobody is one', async () => {
    const server = await startServer({ sql: db.sql })
    servers.push(server)
    expect((await server.call('GET', '/api/auth/status')).json).toEqual({ authRequired: false, authenticated: true })
    expect(await server.call('GET', '/api/auth/me')).toMatchObject({ status: 200, json: { username: null } })
    expect((await server.call('GET', '/api/v1/prompts')).status).toBe(200)
    expect((await server.call('POST', '/api/auth/logout')).status).toBe(204)
    expect((await login(server, 'ann', 'correct:horse')).status).toBe(401)
  })
})

verifies(
  ['spec-4.2.login', 'spec-5.2.management-login', 'spec-7.2.management-errors'],
  'management asks for a login with 401 {message}, status and login do not',
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
    expect((await server.call('GET', '/api/auth/status')).json).toEqual({ authRequired: true, authenticated: false })
  },
)

verifies(
  ['spec-4.2.login', 'spec-5.2.management-login', 'contract-2.login-cookie'],
  'the right password sets the cookie, which opens management',
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
    expect(status.json).toEqual({ authRequired: true, authenticated: true })
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
  const rows = await db.sql`select * from logins`
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
  'a login outlives a restart, and ends when its credential is changed or removed',
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
    db.sql`update logins set seen_at = clock_timestamp() - ${seen}::interval,
                             created_at = clock_timestamp() - ${created}::interval`

  test('use extends it, and the cookie with it', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('6 days 23 hours', '6 days 23 hours')
    const used = await me(server, cookie)
    expect(used.status).toBe(200)
    expect(setCookies(used)[0]).toMatch(/^greenroom_session=.+; Max-Age=60\d{4}; Path=\/; HttpOnly; SameSite=Lax/)
    const [row] = await db.sql`select seen_at > clock_timestamp() - interval '1 hour' as moved from logins`
    expect(row).toEqual({ moved: true })
    expect(setCookies(await me(server, cookie))).toEqual([])
  })

  verifies('contract-2.login-cookie', 'it ends after 7 days without use', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('7 days 1 second', '8 days')
    expect((await me(server, cookie)).status).toBe(401)
  })

  test('it ends after 30 days, however much it was used, and says so to the browser', async () => {
    const server = await start()
    const cookie = cookieOf(await login(server, 'ann', 'correct:horse'))
    await age('1 hour', '29 days')
    expect(setCookies(await me(server, cookie))[0]).toMatch(/Max-Age=86(400|39\d);/)
    await age('1 second', '30 days 1 second')
    expect((await me(server, cookie)).status).toBe(401)
    await login(server, 'ann', 'correct:horse')
    expect(await db.sql`select 1 from logins`).toHaveLength(1)
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

  test('known and unknown names read the same, hashed passwords too', async () => {
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
    expect(await db.sql`select 1 from login_failures`).toEqual([])
  })
})

describe('failures are counted', () => {
  const fail = async (server: Server, username: string, address: string, times: number) => {
    for (let n = 0; n < times; n++) expect((await login(server, username, 'wrong', from(address))).status).toBe(401)
  }

  verifies(
    ['spec-5.2.management-login', 'spec-7.2.management-errors', 'contract-2.login-limit'],
    'five a minute for an address and name; then 429 with Retry-After, the right password too',
    async () => {
      const [here, there] = [await start(), await start()]
      await fail(here, 'ann', '192.0.2.1', 3)
      await fail(there, 'ann', '192.0.2.1', 2)
      for (const server of [here, there]) {
        const answer = await login(server, 'ann', 'correct:horse', from('192.0.2.1'))
        expect(answer.status).toBe(429)
        expect(answer.json).toEqual({ message: expect.any(String) })
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
        expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60)
        expect(setCookies(answer)).toEqual([])
      }
      expect((await login(here, 'bob', 'battery staple', from('192.0.2.1'))).status).toBe(200)
      expect((await login(here, 'ann', 'correct:horse', from('192.0.2.2'))).status).toBe(200)
    },
  )

  test('the minute slides: Retry-After is when the fifth newest is a minute old', async () => {
    const server = await start()
    await fail(server, 'ann', '192.0.2.1', 5)
    await db.sql`update login_failures set at = at - interval '50 seconds'`
    const refused = await login(server, 'ann', 'correct:horse', from('192.0.2.1'))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10)
    await db.sql`update login_failures set at = at - interval '11 seconds'`
    expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(200)
    expect(await db.sql`select 1 from login_failures`).toEqual([])
  })

  verifies('contract-2.login-limit', 'thirty a minute for an address, whatever the names', async () => {
    const server = await start()
    for (let n = 0; n < 30; n++) await fail(server, `name ${n}`, '192.0.2.1', 1)
    expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(429)
    expect((await login(server, 'ann', 'correct:horse', from('192.0.2.9'))).status).toBe(200)
  })

  verifies('contract-2.login-limit', 'of IPv6 the /64 counts as one address', async () => {
    const server = await start()
    for (let n = 1; n <= 5; n++) await fail(server, 'ann', `2001:db8:1:2::${n}`, 1)
    expect((await login(server, 'ann', 'correct:horse', from('2001:db8:1:2:ffff::9'))).status).toBe(429)
    expect((await login(server, 'ann', 'correct:horse', from('2001:db8:1:3::1'))).status).toBe(200)
  })

  test('X-Forwarded-For counts for nothing without a trusted proxy', async () => {
    const server = await startServer({ sql: db.sql, credentials })
    servers.push(server)
    for (let n = 1; n <= 5; n++) await fail(server, 'ann', `192.0.2.${n}`, 1)
    expect((await login(server, 'ann', 'correct:horse', from('192.0.2.99'))).status).toBe(429)
  })

  test('attempts counted side by side never exceed five together', async () => {
    const pool = connect(db.url, { max: 12, name: 'test', timeoutMs: 0 })
    await Promise.all(Array.from({ length: 12 }, () => pool`select pg_sleep(0.01)`)) // every connection is open
    const attempts = await Promise.all(Array.from({ length: 12 }, () => beginAttempt(pool, '192.0.2.1', 'ann')))
    await pool.end()
    expect(attempts.filter(({ allowed }) => allowed)).toHaveLength(5)
  })

  test('guesses side by side on two instances do not pass together', async () => {
    const both = [await start(), await start()]
    const guesses = Array.from({ length: 24 }, (_, n) =>
      login(both[n % 2] as Server, 'ann', `guess ${n}`, from('192.0.2.1')),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(19)
  })

  test('right logins are not failures, however many at once, and do not wash failures away', async () => {
    const server = await start()
    await fail(server, 'ann', '192.0.2.1', 4)
    const right = Array.from({ length: 12 }, () => login(server, 'ann', 'correct:horse', from('192.0.2.1')))
    expect((await Promise.all(right)).map(({ status }) => status)).toEqual(Array(12).fill(200))
    await fail(server, 'ann', '192.0.2.1', 1)
    expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(429)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
])('the address %s counts as %s', (ip, counted) => expect(loginAddress(ip)).toBe(counted))
