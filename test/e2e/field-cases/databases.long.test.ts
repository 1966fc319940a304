/** A database as hosting gives it, by the reports of others' users: few connections, other defaults, a publication. */
import { afterAll, expect } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import { freshDatabase } from '../../support/database.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import {
  addAgent,
  deployUrl,
  launchProduct,
  messagesOf,
  newSession,
  postJson,
  startProduct,
} from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'

const SESSIONS = 30
const db = await freshDatabase({ empty: true })
const name = new URL(db.url).pathname.slice(1)
const role = `hosted_${name}`
await db.sql.unsafe(`create role ${role} login connection limit 10; alter database ${name} owner to ${role}`)
await db.sql.unsafe(`alter schema public owner to ${role}`)
await db.sql.unsafe(`alter database ${name} set datestyle = 'SQL, DMY'`)
await db.sql.unsafe(`alter database ${name} set default_transaction_isolation = 'serializable'`)
const url = new URL(db.url)
url.username = role
for (const [word, value] of Object.entries({
  supa: 'base-pooler.x',
  connection_limit: '5',
  pgbouncer: 'true',
  schema: 'public',
}))
  url.searchParams.set(word, value)
const env = { DATABASE_URL: url.href, SECRET_KEY: 'field', AUTH_CREDENTIALS: '', OWNER_LEASE_MS: '10000' }
const up = await startUpstream()
const product = await startProduct({ direct: true, env })
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  await up.close()
  await db.sql.unsafe(`alter database ${name} owner to current_user; alter schema public owner to current_user`)
  await db.sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`)
  await db.drop()
})
up.always(says('Hello.'))
const agent = await addAgent(product, up.url)
const say = (session: string, stream: boolean) =>
  postJson(`${product.url}${session}/chat/completions`, { messages: [{ role: 'user', content: 'Hi' }], stream })

verifies('contract-35.address-words', 'words of other drivers are left out, with one warning that names them', () => {
  const warned = product.stdout.concat(product.stderr).filter((line) => line.includes('DATABASE_URL'))
  expect(warned).toHaveLength(1)
  for (const word of ['supa', 'connection_limit', 'pgbouncer']) expect(warned[0]).toContain(word)
})

verifies('contract-35.few-connections', 'thirty sessions at once on ten connections: each is answered', async () => {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(product.url, agent)))
  const answered = await Promise.all(sessions.map((session, n) => say(session, n % 2 === 0)))
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]))
  await Promise.all(answered.map((answer) => answer.text()))
  for (const session of sessions) expect((await messagesOf(product.url, session)).at(-1)?.content).toBe('Hello.')
})

verifies('contract-35.published', 'all tables published: replies, keys and their revocation go on', async () => {
  await db.sql.unsafe('create publication everything for all tables')
  expect((await say(await newSession(product.url, agent), false)).status).toBe(200)
  const made = Object(await (await postJson(`${product.url}/api/v1/keys`, { name: 'one', scopes: ['deploy'] })).json())
  expect((await fetch(`${product.url}/api/v1/keys/${made.id}`, { method: 'DELETE' })).status).toBe(204)
})

verifies(['contract-35.published', 'contract-35.challenge'], 'logins and limits that it counts go on too', async () => {
  const named = { AUTH_CREDENTIALS: 'ada:right-and-long', PUBLIC_API_KEY: 'shared-by-all-of-them' }
  await using other = await startProduct({ direct: true, env: { ...env, ...named } })
  const login = (password: string) => postJson(`${other.url}/api/auth/login`, { username: 'ada', password })
  expect((await login('wrong')).status).toBe(401)
  const { status, headers } = await login('right-and-long')
  expect(status).toBe(200)
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const limits = { requestsPerMinute: 100, tokensPerDay: 100_000 }
  const made = await postJson(`${other.url}/api/v1/keys`, { name: 'two', scopes: ['deploy'], limits }, { cookie })
  const { id, key } = Object(await made.json())
  const use = (given: string) => {
    const body = { messages: [{ role: 'user', content: 'Hi' }] }
    const credentials = { authorization: `Bearer ${given}` }
    return postJson(`${deployUrl(other.url, agent)}/chat/completions`, body, credentials)
  }
  expect([(await use(key)).status, (await use(key)).status]).toEqual([200, 200])
  const revoked = await fetch(`${other.url}/api/v1/keys/${id}`, { method: 'DELETE', headers: { cookie } })
  expect(revoked.status).toBe(204)
  const refused = await use(key)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="greenroom", error="invalid_token"')
})

verifies(
  ['contract-35.address-words', 'contract-35.other-tables'],
  'a start that cannot be names DATABASE_URL, and what is in its way',
  async () => {
    const other = await freshDatabase({ empty: true })
    await other.sql`create table sessions (id text primary key, data text)`
    const start = async (query: string) => {
      const address = `${other.url}${other.url.includes('?') ? '&' : '?'}${query}`
      await using launched = await launchProduct({ direct: true, env: { DATABASE_URL: address } })
      expect((await launched.exited).code).not.toBe(0)
      return [...launched.stdout, ...launched.stderr].find((line) => line.includes('DATABASE_URL'))
    }
    for (const [query, words] of [
      ['schema=public', ['"sessions"', 'schema=greenroom']],
      ['sslrootcert=/etc/ssl/no-rds.pem', ['sslrootcert', '/etc/ssl/no-rds.pem']],
      ['fast_lane=1', ['fast_lane']],
    ] as const) {
      const line = await start(query)
      for (const word of words) expect(line).toContain(word)
    }
    await other.drop()
  },
)

verifies('contract-25.database-surroundings', 'dates in another style: a resume and a cancel go on', async () => {
  const session = await newSession(product.url, agent)
  await (await say(session, true)).text()
  const deploy = `${product.url}${session}/chat/completions`
  const resumed = await fetch(`${deploy}/stream`, { headers: { 'last-event-id': '1' } })
  expect([resumed.status, (await resumed.text()).includes('[DONE]')]).toEqual([200, true])
  expect((await fetch(`${deploy}/cancel`, { method: 'POST' })).status).toBe(204)
  expect((await fetch(`${deployUrl(product.url, agent)}/sessions`)).status).toBe(200)
})
