/** Contract section 1, TRUST_PROXY: a number of hops, or addresses and CIDR ranges. */
import { expect, test } from 'vitest'
import { createServer } from '../../../src/http/server/server.ts'
import { trustedProxies } from '../../../src/http/server/trusted-proxies.ts'
import { readSettings } from '../../../src/settings.ts'

const addresses = ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8::1', 'fe80::1%eth0', 'unknown', '10.1.2.3:80']

test.each([
  ['10.0.0.0/8', ['10.1.2.3', '::ffff:10.1.2.3']],
  ['192.0.2.1, 2001:db8::/32', ['192.0.2.1', '2001:db8::1']],
  ['0.0.0.0/0', ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1']],
  ['0.0.0.0/0, ::/0', ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8::1', 'fe80::1%eth0']],
  ['::ffff:10.0.0.0/104', ['10.1.2.3', '::ffff:10.1.2.3']],
])('TRUST_PROXY=%s trusts %j', (value, trusted) => {
  const isTrusted = trustedProxies(readSettings({ TRUST_PROXY: value }).trustProxy ?? 0)
  expect(addresses.filter((address) => isTrusted(address, 0))).toEqual(trusted)
})

test.each([
  ['0.0.0.0/0', '203.0.113.9'],
  ['1', '198.51.100.7'],
  ['192.0.2.0/24', '127.0.0.1'],
])('TRUST_PROXY=%s: the caller’s address is %s', async (value, caller) => {
  const { trustProxy } = readSettings({ TRUST_PROXY: value })
  const app = createServer({ logLevel: 'silent', maxBodyBytes: 1, trustProxy })
  app.get('/', async ({ ip }) => ip)
  const { body } = await app.inject({ url: '/', headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } })
  expect(body).toBe(caller)
  await app.close()
})
