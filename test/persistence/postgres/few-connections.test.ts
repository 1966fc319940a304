/** A role that may have few connections (contract section 35), as small managed databases give it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, createCrowd, type Sql } from '../../../src/persistence/postgres/database.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

let db: FreshDatabase
/** The role's name, and the address with it. */
let role: string
let url: string
beforeAll(async () => {
  db = await freshDatabase({ empty: true })
  const address = new URL(db.url)
  role = `few_${address.pathname.slice(1)}`
  await db.sql.unsafe(`create role ${role} login; alter database ${address.pathname.slice(1)} owner to ${role}`)
  await db.sql.unsafe(`alter schema public owner to ${role}`)
  address.username = role
  url = address.href
})
afterAll(async () => {
  await db.sql.unsafe(`alter schema public owner to current_user; drop owned by ${role} cascade`)
  await db.sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} owner to current_user; drop role ${role}`)
  await db.drop()
})

const allow = (most: number) => db.sql.unsafe(`alter role ${role} connection limit ${most}`)

test('statements and transactions wait for a connection that the server gives later', async () => {
  await allow(3)
  const sql = connect(url, { max: 8, name: 'test', timeoutMs: 60_000 })
  try {
    const ones = Array.from({ length: 20 }, (_, n) =>
      n % 2 ? sql`select ${n}::int as n` : sql.begin((tx) => tx`select ${n}::int as n`),
    )
    expect((await Promise.all(ones)).map(([row]) => row?.n)).toEqual(ones.map((_, n) => n))
  } finally {
    await sql.end()
  }
})

verifies('contract-35.few-connections', 'a pool leaves idle connections to another pool of its instance', async () => {
  await allow(2)
  const options = { name: 'test', timeoutMs: 2000, crowd: createCrowd() }
  const first = connect(url, { ...options, max: 2, kept: 1 })
  const second = connect(url, { ...options, max: 2 })
  const pid = async (sql: Sql) => (await sql`select pg_backend_pid() as pid`)[0]?.pid
  try {
    const pids = await Promise.all([first`select pg_sleep(0)`, pid(first), pid(first)])
    expect(await pid(second)).toBeDefined()
    expect(pids).toContain(await pid(first)) // the one that it keeps
  } finally {
    await Promise.all([first.end(), second.end()])
  }
})

verifies('contract-35.few-connections', 'a statement for which none comes is not sent, and says why', async () => {
  await allow(0)
  const sql = connect(url, { max: 2, name: 'test', timeoutMs: 2000, silenceMs: 2000 })
  try {
    await expect(sql`select 1`).rejects.toMatchObject({ code: '53300' })
    await expect(sql.begin((tx) => tx`select 1`)).rejects.toMatchObject({ code: '53300' })
  } finally {
    await sql.end()
  }
})

verifies('contract-35.few-connections', 'thirty sessions at once on ten connections get no 503', async () => {
  await allow(10)
  const database = { ...db, url }
  // A stream is cut when the database is silent for a lease, as it may be on a busy machine.
  await using app = await startTestApp({ database, settings: { OWNER_LEASE_MS: '30000' } })
  const { agentId } = await createAgent(app)
  const base = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const post = (to: string, body: object) =>
    fetch(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const one = async (): Promise<number[]> => {
    const made = await post(base, {})
    const { id } = Object(await made.json())
    const sent = await post(`${base}/${id}/chat/completions`, {
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    })
    const text = await sent.text()
    const listed = await fetch(`${base}/${id}/messages`)
    return [made.status, sent.status, text.includes('[DONE]') ? 200 : 500, listed.status]
  }
  const statuses = await Promise.all(Array.from({ length: 30 }, one))
  expect(new Set(statuses.map((each) => each.join()))).toEqual(new Set(['201,200,200,200']))
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
})
