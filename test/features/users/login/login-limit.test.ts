/** The limit on wrong passwords: contract section 2, specification 5.2. */
import { expect, test } from 'vitest'
import { loginAddress } from '../../../../src/features/users/login/login-address.ts'
import { beginAttempt } from '../../../../src/features/users/store/logins.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import type { Server } from '../../../http/management/server.ts'
import { verifies } from '../../../verifies.ts'
import { credentials, login, openLoginScene, setCookies } from './login-scene.ts'

const { database, start, startWith } = openLoginScene()

const from = (address: string) => ({ 'x-forwarded-for': address })

const fail = async (server: Server, username: string, address: string, times: number) => {
  for (let n = 0; n < times; n++) expect((await login(server, username, 'wrong', from(address))).status).toBe(401)
}

verifies(
  ['spec-5.2.management-login', 'spec-7.2.management-errors', 'contract-2.login-limit'],
  'five failures a minute for an address and name; then 429 with Retry-After, even for the right password',
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

test('the window slides: Retry-After is when the fifth newest failure is a minute old', async () => {
  const server = await start()
  await fail(server, 'ann', '192.0.2.1', 5)
  await database().sql`update login_failures set at = at - interval '50 seconds'`
  const refused = await login(server, 'ann', 'correct:horse', from('192.0.2.1'))
  expect(refused.status).toBe(429)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10)
  await database().sql`update login_failures set at = at - interval '11 seconds'`
  expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(200)
  expect(await database().sql`select 1 from login_failures`).toEqual([])
})

verifies('contract-2.login-limit', 'thirty failures a minute for an address, whatever the names', async () => {
  const server = await start()
  for (let n = 0; n < 30; n++) await fail(server, `name ${n}`, '192.0.2.1', 1)
  expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(429)
  expect((await login(server, 'ann', 'correct:horse', from('192.0.2.9'))).status).toBe(200)
})

verifies('contract-2.login-limit', 'an IPv6 /64 counts as one address', async () => {
  const server = await start()
  for (let n = 1; n <= 5; n++) await fail(server, 'ann', `2001:db8:1:2::${n}`, 1)
  expect((await login(server, 'ann', 'correct:horse', from('2001:db8:1:2:ffff::9'))).status).toBe(429)
  expect((await login(server, 'ann', 'correct:horse', from('2001:db8:1:3::1'))).status).toBe(200)
})

test('X-Forwarded-For is ignored without a trusted proxy', async () => {
  const server = await startWith({ credentials })
  for (let n = 1; n <= 5; n++) await fail(server, 'ann', `192.0.2.${n}`, 1)
  expect((await login(server, 'ann', 'correct:horse', from('192.0.2.99'))).status).toBe(429)
})

test('concurrent attempts never exceed five in total', async () => {
  const pool = connect(database().url, { max: 12, name: 'test', timeoutMs: 0 })
  await Promise.all(Array.from({ length: 12 }, () => pool`select pg_sleep(0.01)`)) // every connection is open
  const attempts = await Promise.all(Array.from({ length: 12 }, () => beginAttempt(pool, '192.0.2.1', 'ann')))
  await pool.end()
  expect(attempts.filter(({ allowed }) => allowed)).toHaveLength(5)
})

test('concurrent guesses on two instances share the limit', async () => {
  const both = [await start(), await start()]
  const guesses = Array.from({ length: 24 }, (_, n) =>
    login(both[n % 2] as Server, 'ann', `guess ${n}`, from('192.0.2.1')),
  )
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  expect(statuses.filter((status) => status === 429)).toHaveLength(19)
})

test('successful logins are not failures, however many at once, and do not reset failures', async () => {
  const server = await start()
  await fail(server, 'ann', '192.0.2.1', 4)
  const right = Array.from({ length: 12 }, () => login(server, 'ann', 'correct:horse', from('192.0.2.1')))
  expect((await Promise.all(right)).map(({ status }) => status)).toEqual(Array(12).fill(200))
  await fail(server, 'ann', '192.0.2.1', 1)
  expect((await login(server, 'ann', 'correct:horse', from('192.0.2.1'))).status).toBe(429)
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
