/** The configuration in git makes a deployment: `greenroom export` and `import` (adopters' first wall, contract section 8). */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { withNames } from '../../src/cli/environment.ts'
import { call, openScene } from '../http/scene.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { verifies } from '../verifies.ts'

const staging = await openScene({ settings: {} })
const production = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
afterAll(() => Promise.all([staging.close(), production.close()]))
const file = join(await temporaryFolder(), 'greenroom.json')

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const run = (given: string[], environment: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [cli, ...given],
      { env: { PATH: process.env.PATH, ...environment } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })

const login = { GREENROOM_URL: production.app.url, GREENROOM_LOGIN: 'anna:secret-word' }
const secrets = { STAGING_VENDOR_API_KEY: 'sk-production-0123456789', ORDERS_AUTHORIZATION: 'Bearer production' }
const agents = async () =>
  (await call(`${production.app.url}/api/v1/export`, 'GET', undefined, { authorization: `Bearer ${key}` })).json.agents
let key = ''

verifies('contract-8.deployment', 'an export alone makes an empty server, once its variables are set', async () => {
  const provider = {
    name: 'Staging vendor',
    providerType: 'openai-compatible',
    baseUrl: 'https://models.example.com/v1',
    apiKey: 'sk-staging-0123456789',
  }
  const { json } = await staging.call('POST', '/api/v1/settings/providers', provider)
  await staging.call('POST', '/api/v1/agents', { name: 'Support', model: 'm', providerId: json.id })
  await staging.call('POST', '/api/v1/http-tools', {
    name: 'orders',
    description: 'Lists orders.',
    method: 'GET',
    url: 'https://orders.example.com/',
    headers: { Authorization: 'Bearer staging' },
  })
  expect((await run(['export', file], { GREENROOM_URL: staging.app.url })).code).toBe(0)
  const text = await readFile(file, 'utf8')
  expect(text).not.toMatch(/sk-staging|Bearer staging/)
  expect(JSON.parse(text).providers).toContainEqual({
    name: 'Staging vendor',
    providerType: 'openai-compatible',
    baseUrl: 'https://models.example.com/v1',
    wireApi: 'chat_completions',
    apiKey: { env: 'STAGING_VENDOR_API_KEY' },
  })

  const unset = await run(['import', file], login)
  expect([unset.code, unset.err]).toEqual([
    2,
    expect.stringMatching(/^Not set: STAGING_VENDOR_API_KEY, ORDERS_AUTHORIZATION\. Nothing was sent/),
  ])
  const tried = await run(['import', '--dry-run', file], { ...login, ...secrets })
  expect([tried.code, tried.out]).toEqual([0, expect.stringContaining('create agent "Support"')])
  expect(tried.out).not.toMatch(/sk-production|Bearer production/)
  const made = await run(['import', file], { ...login, ...secrets })
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^Created 4, .* skipped 0\.\n$/), err: '' })
  const again = await run(['import', '--dry-run', file], { ...login, ...secrets })
  expect(again.out.split('\n').slice(0, -2)).toEqual([
    'update provider "Staging vendor"',
    '  apiKey: its secret is sent again',
    'update httpTool "orders"',
    '  headers: its secret is sent again',
  ])
})

test.each([
  ['OpenAI', 'OPENAI_API_KEY'],
  ['Our own model', 'OUR_OWN_MODEL_API_KEY'],
  ['2nd', 'V_2ND_API_KEY'],
])('the key of %s is the variable %s', (name, env) => {
  const named = withNames(JSON.stringify({ providers: [{ name, apiKey: '***' }] }))
  expect(JSON.parse(named).providers).toEqual([{ name, apiKey: { env } }])
})

verifies('contract-8.deployment', 'a key imports in place of a login, and *** keeps what is stored', async () => {
  const at = (path: string, body: object, headers = {}) => call(`${production.app.url}${path}`, 'POST', body, headers)
  const logIn = await at('/api/auth/login', { username: 'anna', password: 'secret-word' })
  const cookie = logIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  key = (await at('/api/v1/keys', { name: 'pipeline', scopes: ['management'] }, { cookie })).json.key
  const text = await readFile(file, 'utf8')
  const kept = text.replace(/\{\s*"env": "[A-Z_]+"\s*\}/g, '"***"').replace('"model": "m"', '"model": "m2"')
  await writeFile(file, kept)
  const made = await run(['import', file], { GREENROOM_URL: production.app.url, GREENROOM_KEY: key })
  expect(made).toEqual({ code: 0, out: 'Created 0, updated 1, skipped 0.\n', err: '' })
  expect(await agents()).toContainEqual(expect.objectContaining({ name: 'Support', model: 'm2' }))
})

verifies(
  'contract-8.deployment',
  'a hidden key of a provider that is not there is refused, and a dry run changes nothing',
  async () => {
    const providers = [{ name: 'New', providerType: 'openai', apiKey: '***' }]
    const refused = await staging.call('POST', '/api/v1/import', { version: 1, providers })
    expect(refused.json.skipped).toEqual([
      { kind: 'provider', name: 'New', reason: 'apiKey: there is no stored value to keep' },
    ])
    const before = (await staging.call('GET', '/api/v1/export')).json
    const tried = await staging.call('POST', '/api/v1/import?dryRun=true', {
      version: 1,
      prompts: [{ name: 'P', content: 'c' }],
    })
    expect(tried.json).toMatchObject({ created: 1, changes: [{ action: 'create', kind: 'prompt', name: 'P' }] })
    expect((await staging.call('GET', '/api/v1/export')).json).toEqual(before)
  },
)

test('what is wrong with the server, its address or the login is said with the variable that mends it', async () => {
  const refused = async (environment: Record<string, string>) => await run(['export'], environment)
  expect(await refused({ GREENROOM_URL: '127.0.0.1:8080' })).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^GREENROOM_URL: "127\.0\.0\.1:8080" .* http:\/\//),
  })
  const { err } = await refused({ GREENROOM_URL: production.app.url })
  expect(err).toMatch(/answered 401: .*\nSet GREENROOM_KEY .* GREENROOM_LOGIN/)
  const other = createServer((_, answer) => answer.writeHead(404).end('<p>'.repeat(1000))).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const elsewhere = (await refused({ GREENROOM_URL: url })).err
  expect(elsewhere).toContain(`Is there a Greenroom at ${url}?`)
  expect(elsewhere.length).toBeLessThan(300)
  other.close()
})

test('a backup and a restore name their place', async () => {
  const folder = await temporaryFolder()
  const database = await freshDatabase()
  const backup = await run(['backup', join(folder, 'none', 'x.sql')], { DATABASE_URL: database.url })
  expect([backup.code, backup.err]).toEqual([
    2,
    expect.stringContaining(
      `${join(folder, 'none', 'x.sql')} cannot be written: there is no folder ${join(folder, 'none')}.`,
    ),
  ])
  expect((await run(['backup'], {})).err).toMatch(/takes one or two arguments/)
  const dump = join(folder, 'x.sql')
  await writeFile(dump, 'no dump')
  const restored = await run(['restore', dump], { DATABASE_URL: database.url })
  expect(restored.err).toMatch(/^Restoring into postgres:\/\/[^@]*\.\n/)
  // A forgotten DATABASE_URL. The folder that is a file ends the command before a server starts.
  const embedded = await run(['restore', dump, '--data', dump], {})
  expect([embedded.code, embedded.err]).toEqual([
    2,
    expect.stringMatching(/^Restoring into the embedded database in .*x\.sql\.\n.*is a file/),
  ])
  await database.drop()
})
