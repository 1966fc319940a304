/** Words in DATABASE_URL (contract section 35), as hosting providers and other drivers write them. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp } from '../../../../src/compose/app.ts'
import { askFirst, connect } from '../../../../src/persistence/postgres/database.ts'
import { readAddress } from '../../../../src/persistence/postgres/dialing/address.ts'
import { readSettings } from '../../../../src/settings.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { verifies } from '../../../verifies.ts'

let db: FreshDatabase
let folder: string
beforeAll(async () => {
  db = await freshDatabase({ empty: true })
  folder = await temporaryFolder()
})
afterAll(async () => {
  await db.drop()
  await rm(folder, { recursive: true })
})

const withWords = (query: string) => `${db.url}${db.url.includes('?') ? '&' : '?'}${query}`
/** A start that a word of the address stops, as the operator sees it. */
const stopped = async (query: string) =>
  await startApp(readSettings({ DATABASE_URL: withWords(query), SECRET_KEY: 'x', PORT: '0', LOG_LEVEL: 'fatal' })).then(
    (app) => app.stop().then(() => 'it started'),
    (error: Error) => error.message,
  )

const others = [
  'supa=base-pooler.x',
  'connection_limit=5&pool_timeout=0',
  'pgbouncer=true&statement_cache_size=0&socket_timeout=10',
  'uselibpqcompat=true',
  'keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=3&tcp_user_timeout=9000',
  'channel_binding=require&gssencmode=disable',
  'pool_max_conns=10&pool_min_conns=2&workaround=supabase-pooler.vercel',
]

verifies('contract-35.address-words', 'words of other drivers reach no server and are named', async () => {
  for (const query of others) {
    const { answer } = await askFirst(withWords(query), (sql) => sql`select 1 as one`)
    expect([...answer]).toEqual([{ one: 1 }])
    expect(readAddress(withWords(query)).leftOut).toEqual([...new URLSearchParams(query).keys()])
  }
  const several = readAddress('postgres://u:p@one:5432,two:5433/d?supa=x&target_session_attrs=read-write')
  expect(several).toMatchObject({ leftOut: ['supa'], path: null })
  expect(several.url).toBe('postgres://u:p@one:5432,two:5433/d?target_session_attrs=read-write')
})

verifies('contract-35.address-words', 'a start with words of other drivers warns once', async () => {
  const env = { DATABASE_URL: withWords('supa=x&connection_limit=5'), SECRET_KEY: 'x', PORT: '0', LOG_LEVEL: 'warn' }
  const lines: string[] = []
  const app = await startApp(readSettings(env), { write: (line: string) => lines.push(line) })
  await app.stop()
  const warnings = lines.filter((line) => line.includes('DATABASE_URL'))
  expect(warnings).toEqual([expect.stringContaining('supa, connection_limit')])
})

verifies('contract-35.address-words', 'schema is the whole search path, and must be there', async () => {
  await db.sql`create schema "Own ""one"`
  const sql = connect(withWords('schema=Own%20%22one'), { max: 1, name: 'test', timeoutMs: 1000 })
  try {
    await sql`create table apart (id int)`
    const [table] = await db.sql`select schemaname from pg_tables where tablename = 'apart'`
    expect(table).toEqual({ schemaname: 'Own "one' })
  } finally {
    await sql.end()
  }
  expect(await stopped('schema=missing')).toMatch(/^DATABASE_URL: schema: .*"missing".* create schema "missing"/)
})

verifies(
  'contract-35.address-words',
  'another word that the server refuses stops the start, and is named',
  async () => {
    expect(await stopped('sslmode=disable&currentSchema=app')).toMatch(
      /^DATABASE_URL: the database refuses the word "currentSchema": /,
    )
    expect(await stopped('statement_timeout=soon')).toMatch(
      /^DATABASE_URL: the database refuses the word "statement_timeout"/,
    )
  },
)

verifies('contract-35.address-words', 'sslrootcert is read, and its fault named', async () => {
  const file = join(folder, 'ca.pem')
  await writeFile(file, 'no certificate')
  expect(await stopped(`sslrootcert=${folder}/none.pem`)).toMatch(
    /^DATABASE_URL: sslrootcert: .*none.pem cannot be read/,
  )
  expect(await stopped(`sslrootcert=${file}`)).toMatch(/^DATABASE_URL: sslrootcert: .*ca.pem holds no certificate/)
})

test('an authority is checked as libpq checks it', async () => {
  const tls = (query: string) => readAddress(`postgres://u@db.example/d?sslrootcert=system&${query}`).tls
  expect(tls('sslmode=disable')).toBeNull()
  for (const query of ['', 'sslmode=require', 'sslmode=verify-full'])
    expect(Object.keys(tls(query) ?? {})).toEqual(['ca'])
})
