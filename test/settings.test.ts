import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { settingsTable, withTable } from '../scripts/tables/settings-table.ts'
import { findCredential } from '../src/features/users/login/password.ts'
import { readSettings, table } from '../src/settings.ts'
import { isLoopback, SettingsError, startupWarnings } from '../src/settings-checks.ts'
import { verifies } from './verifies.ts'

test('contract section 1: without an environment every setting has its default', () => {
  expect(readSettings({})).toEqual({
    port: 8080,
    host: '127.0.0.1',
    databaseUrl: null,
    dataDir: './data',
    secretKeys: null,
    publicApiKey: null,
    publicApiKeyPrevious: null,
    authCredentials: null,
    trustProxy: null,
    allowedHosts: [],
    cacheProvider: null,
    cacheUrl: 'redis://127.0.0.1:6379',
    outboundPolicy: 'standard',
    outboundAllow: [],
    httpsProxy: null,
    httpProxy: null,
    noProxy: null,
    publicUrl: null,
    oidcIssuer: null,
    oidcClientId: null,
    oidcClientSecret: null,
    oidcRoles: null,
    oidcScopes: 'openid profile email',
    oidcRecheckS: 300,
    sessionTitles: 'derived',
    providerRetries: 2,
    generationTimeoutS: 600,
    providerIdleTimeoutS: 300,
    ownerLeaseMs: 6000,
    continueWithinS: 600,
    maxRunningReplies: 2000,
    maxFileBytes: 67_108_864,
    maxUserFileBytes: 1_073_741_824,
    maxSessionBytes: 268_435_456,
    maxUserBytes: null,
    maxUserSessions: 10_000,
    historyMaxTokens: 100_000,
    drainTimeoutS: 30,
    maxBodyBytes: 4_194_304,
    sessionRetentionDays: null,
    auditRetentionDays: 365,
    traceRetentionDays: 30,
    workers: 1,
    otelEndpoint: null,
    otelServiceName: null,
    otelResourceAttributes: null,
    metricsPort: null,
    logLevel: 'info',
    seedDemo: 'auto',
    traceRequests: 'on',
  })
})

verifies('contract-1.settings', 'an empty value counts as unset', () => {
  const names = Object.values(table).map((row) => row.name)
  expect(readSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readSettings({}))
  expect(readSettings(Object.fromEntries(names.map((name) => [name, ' '])))).toEqual(readSettings({}))
})

describe('contract section 1: a wrong value stops the start with one line that begins with the name', () => {
  test.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['HOST', 'http://x'],
    ['HOST', 'a b'],
    ['DATABASE_URL', 'mysql://x/y'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_URL', 'postgres://u:50%off@h/d'],
    ['DATABASE_URL', 'postgres://u:p@h1:5432,h2:x/d'],
    ['DATABASE_URL', 'postgres://u:p@h1:5432,/d'],
    ['SECRET_KEY', 'a,,b'],
    ['PUBLIC_API_KEY', 'with space'],
    ['PUBLIC_API_KEY', 'schlüssel'],
    ['PUBLIC_API_KEY_PREVIOUS', 'old'],
    ['AUTH_CREDENTIALS', 'nocolon'],
    ['AUTH_CREDENTIALS', ':password'],
    ['AUTH_CREDENTIALS', 'name:'],
    ['AUTH_CREDENTIALS', 'a:b,'],
    ['AUTH_CREDENTIALS', 'a:b,a:c'],
    ['AUTH_CREDENTIALS', 'a:b\n'],
    ['AUTH_CREDENTIALS', 'a:scrypt:16384:8:1:short'],
    ['AUTH_CREDENTIALS', 'a:scrypt:1073741824:8:1:AAAAAAAAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '-1'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0/8'],
    ['TRUST_PROXY', '10.0.0.1,proxy.internal'],
    ['ALLOWED_HOSTS', 'http://a.example'],
    ['ALLOWED_HOSTS', 'a.example:8080'],
    ['ALLOWED_HOSTS', 'a.example/x'],
    ['ALLOWED_HOSTS', '*'],
    ['CACHE_PROVIDER', 'memcached'],
    ['CACHE_PROVIDER', 'Redis'],
    ['CACHE_URL', 'http://127.0.0.1'],
    ['CACHE_URL', 'redis://one:6379,two:6379'],
    ['CACHE_URL', 'redis+sentinel://one:26379'],
    ['CACHE_URL', 'redis+cluster://one:6379/1'],
    ['CACHE_URL', 'redis://:secret@/nohost'],
    ['OUTBOUND_POLICY', 'open'],
    ['OUTBOUND_ALLOW', 'http://x'],
    ['OUTBOUND_ALLOW', 'host:0'],
    ['OUTBOUND_ALLOW', 'host:99999'],
    ['OUTBOUND_ALLOW', '10.0.0.0/40'],
    ['OUTBOUND_ALLOW', '[::1'],
    ['SESSION_TITLES', 'none'],
    ['PROVIDER_RETRIES', '11'],
    ['GENERATION_TIMEOUT_S', '0'],
    ['PROVIDER_IDLE_TIMEOUT_S', '1.5'],
    ['OWNER_LEASE_MS', '10'],
    ['MAX_RUNNING_REPLIES', '0'],
    ['HISTORY_MAX_TOKENS', 'many'],
    ['DRAIN_TIMEOUT_S', '30s'],
    ['MAX_BODY_BYTES', '4MB'],
    ['SESSION_RETENTION_DAYS', '0'],
    ['TRACE_RETENTION_DAYS', '0'],
    ['WORKERS', '0'],
    ['WORKERS', '2'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://one:4318,http://two:4318'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,c'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,,c=d'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%zz'],
    ['METRICS_PORT', '8080'],
    ['METRICS_PORT', 'on'],
    ['LOG_LEVEL', 'verbose'],
    ['SEED_DEMO', 'yes'],
  ])('%s=%s', (name, value) => {
    const read = () => readSettings({ [name]: value })
    expect(read).toThrow(SettingsError)
    expect(read).toThrow(new RegExp(`^${name}: [^\\n]+\\.$`))
  })
})

verifies('contract-1.settings', 'a reason never repeats what may be secret', () => {
  const proxies = { HTTPS_PROXY: 'socks5://u:hunter2@h:1080', HTTP_PROXY: 'http://u:hunter2@' }
  const wrong = {
    ...proxies,
    AUTH_CREDENTIALS: 'hunter2',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    PUBLIC_API_KEY: 'hunter2 ü',
  }
  for (const [name, value] of Object.entries(wrong)) {
    expect(() => readSettings({ [name]: value })).toThrow(/^(?!.*hunter2)/)
  }
})

verifies('contract-35.proxy', 'proxies are read in both cases, without a scheme too', () => {
  const upper = { HTTPS_PROXY: 'http://p:3128', HTTP_PROXY: 'squid.example:3128', NO_PROXY: '*.local' }
  const read = (environment: Record<string, string>) => {
    const { httpsProxy, httpProxy, noProxy } = readSettings(environment)
    return [httpsProxy, httpProxy, noProxy]
  }
  const expected = ['http://p:3128/', 'http://squid.example:3128/', '*.local']
  expect(read(upper)).toEqual(expected)
  expect(read({ https_proxy: 'http://p:3128', http_proxy: 'squid.example:3128', no_proxy: '*.local' })).toEqual(
    expected,
  )
  const mixed = { ...upper, https_proxy: 'https://ann:a%40b@lower:8443', no_proxy: ' ' }
  expect(read(mixed)).toEqual(['https://ann:a%40b@lower:8443/', 'http://squid.example:3128/', '*.local'])
})

verifies('contract-1.secret-key', 'SECRET_KEY is required when CACHE_PROVIDER is set', () => {
  expect(() => readSettings({ CACHE_PROVIDER: 'redis' })).toThrow(/^SECRET_KEY: required/)
  expect(readSettings({ CACHE_PROVIDER: 'valkey', SECRET_KEY: 'new, old' }).secretKeys).toEqual(['new', 'old'])
})

verifies('contract-1.settings', 'more than one worker needs DATABASE_URL', () => {
  expect(readSettings({ WORKERS: '4', DATABASE_URL: 'postgres://u:p@h:5432/d' }).workers).toBe(4)
})

test.each([
  'postgresql://h/d',
  'postgres://u:p%40@h:6432/d?sslmode=require&prepare=false',
  'postgres://u@%2Fvar%2Frun%2Fpostgresql/d',
  'postgres://u:p@h1:5432,h2:5433/d',
  'postgres://u:p,w@[::1]:5432,h2/d?target_session_attrs=read-write',
])('DATABASE_URL may be %s', (url) => {
  expect(readSettings({ DATABASE_URL: url }).databaseUrl).toBe(url)
})

test('contract section 1: the first colon ends the name, passwords may hold colons and be hashes', () => {
  const hash = 'scrypt:16384:8:1:AAAAAAAAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  expect(readSettings({ AUTH_CREDENTIALS: `ann:a:b: c,bob:${hash}` }).authCredentials).toEqual([
    { username: 'ann', password: 'a:b: c' },
    { username: 'bob', password: hash },
  ])
})

test('TRUST_PROXY is a number of hops, or addresses and ranges', () => {
  expect(readSettings({ TRUST_PROXY: '2' }).trustProxy).toBe(2)
  expect(readSettings({ TRUST_PROXY: '10.0.0.0/8, ::1,fd00::/8' }).trustProxy).toEqual([
    '10.0.0.0/8',
    '::1',
    'fd00::/8',
  ])
})

test('ALLOWED_HOSTS are names as browsers send them', () => {
  expect(readSettings({ ALLOWED_HOSTS: 'App.Example, bücher.example,my-mac.local' }).allowedHosts).toEqual([
    'app.example',
    'xn--bcher-kva.example',
    'my-mac.local',
  ])
})

test('OUTBOUND_ALLOW takes hosts, hosts with a port, addresses and ranges', () => {
  expect(
    readSettings({ OUTBOUND_ALLOW: 'api.internal,API.internal:8443,10.1.0.0/16,::1,[::1]:81' }).outboundAllow,
  ).toEqual([
    { kind: 'host', host: 'api.internal', port: null },
    { kind: 'host', host: 'api.internal', port: 8443 },
    { kind: 'range', address: '10.1.0.0', prefix: 16, family: 'ipv4' },
    { kind: 'range', address: '::1', prefix: 128, family: 'ipv6' },
    { kind: 'host', host: '[::1]', port: 81 },
  ])
})

verifies(
  'contract-1.settings',
  'beyond loopback the start warns about each missing credential, on loopback about none',
  () => {
    const warnings = (environment: Record<string, string>) => startupWarnings(readSettings(environment))
    expect(warnings({})).toEqual([])
    expect(warnings({ HOST: '0.0.0.0' })).toEqual([
      expect.stringContaining('PUBLIC_API_KEY'),
      expect.stringContaining('AUTH_CREDENTIALS'),
    ])
    expect(warnings({ HOST: '::', PUBLIC_API_KEY: 'k' })).toEqual([expect.stringContaining('AUTH_CREDENTIALS')])
    expect(warnings({ HOST: '192.0.2.1', AUTH_CREDENTIALS: 'a:b' })).toEqual([
      expect.stringContaining('PUBLIC_API_KEY'),
    ])
    expect(warnings({ HOST: 'app.internal', AUTH_CREDENTIALS: 'a:b', PUBLIC_API_KEY: 'k' })).toEqual([])
    expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost', '0.0.0.0', '127.example.com'].map(isLoopback)).toEqual([
      ...[true, true, true, true],
      ...[false, false],
    ])
  },
)

test('the table of settings has one row each, and a page without its markers is noticed', () => {
  const rows = Object.values(table)
  const lines = settingsTable(rows).split('\n')
  expect(lines).toHaveLength(rows.length + 2)
  expect(lines).toContain(
    '| `WORKERS` | `1` | Processes on the one port, each a separate instance; more than one needs `DATABASE_URL`. |',
  )
  for (const line of lines) expect(line.split('|')).toHaveLength(5)
  const page = 'before\n<!-- settings -->\nold\n<!-- /settings -->\nafter\n'
  const written = withTable(page, rows) ?? ''
  expect(written).toMatch(/^before\n<!-- settings -->\n\n\| Setting [\s\S]+\|\n\n<!-- \/settings -->\nafter\n$/)
  expect(withTable(written, rows)).toBe(written)
  expect(withTable('no markers', rows)).toBeNull()
})

test('contract section 1: what hash-password prints is taken as a password', async () => {
  const child = promisify(execFile)(process.execPath, ['src/cli/main.ts', 'hash-password'])
  child.child.stdin?.end('hunter2\n')
  const { stdout } = await child
  const { authCredentials } = readSettings({ AUTH_CREDENTIALS: `ann:${stdout.trim()}` })
  expect(await findCredential(authCredentials ?? [], 'ann', 'hunter2')).toMatchObject({ username: 'ann' })
})
