import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseArray, serializeArray } from '../../../src/persistence/postgres/array-types.ts'
import {
  type AnySql,
  codeOf,
  connect,
  createLosses,
  isBadData,
  isPooled,
  isUnavailable,
  type Sql,
} from '../../../src/persistence/postgres/database.ts'
import { startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'
import { endSharedApps } from '../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'

let database: FreshDatabase
beforeAll(endSharedApps)
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
})
afterAll(() => database.drop())

const limits = async (sql: Pick<Sql, 'unsafe'>) =>
  (
    await sql
      .unsafe("select current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')")
      .values()
  )[0]

test('design section 4: every connection carries both time-outs and its name', async () => {
  const sql = connect(database.url, { max: 2, name: 'greenroom test', timeoutMs: 1234 })
  expect(await limits(sql)).toEqual(['1234ms', '1234ms'])
  const [row] = await sql`select current_setting('application_name') as name`
  expect(row?.name).toBe('greenroom test')
  await sql.end()
})

test('contract section 1: behind a transaction pooler the time-outs are set within transactions, and leave nothing', async () => {
  const sql = connect(database.url, { max: 1, name: 'pooled', timeoutMs: 1234, pooled: true })
  expect(await limits(sql)).toEqual(['0', '0'])
  expect(await sql.begin((tx) => limits(tx))).toEqual(['1234ms', '1234ms'])
  expect(await sql.begin('read only', (tx) => limits(tx))).toEqual(['1234ms', '1234ms'])
  expect(await limits(sql)).toEqual(['0', '0'])
  expect(sql.options.prepare).toBe(false)
  const asked = connect(`${database.url}?prepare=true`, { max: 1, name: 'pooled', timeoutMs: 1234, pooled: true })
  expect(asked.options.prepare).toBe('true')
  await Promise.all([sql.end(), asked.end()])
})

/** A server that answers every start with one error, as poolers do. `starts`: whether each had start parameters. */
async function refusing(code: string, message: string): Promise<{ url: string; starts: boolean[]; close(): void }> {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 4 + fields.length])
  const starts: boolean[] = []
  const server = createServer((socket) =>
    socket.once('data', (start) => {
      starts.push(start.includes('lock_timeout'))
      socket.end(Buffer.concat([head, fields]))
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `postgres://u@127.0.0.1:${port}/d`, starts, close: () => server.close() }
}

test('a pooler is told by its refusal of start parameters; a server, and any other error, is not one', async () => {
  expect(await isPooled(database.url)).toBe(false)
  const pooler = await refusing('08P01', 'unsupported startup parameter: lock_timeout')
  await expect(isPooled(pooler.url)).rejects.toThrow('startup parameter')
  expect(pooler.starts).toEqual([true, false]) // asked again as one asks a pooler
  pooler.close()
  const closed = await refusing('28P01', 'password authentication failed')
  await expect(isPooled(closed.url)).rejects.toThrow('password authentication failed')
  expect(closed.starts).toEqual([true])
  closed.close()
})

test('parameters that only libpq knows, and Unix sockets in both of its forms, work in a URL', async () => {
  const path = decodeURIComponent(new URL(database.url).hostname)
  const name = new URL(database.url).pathname
  for (const url of [
    `${database.url}?channel_binding=require&pgbouncer=true`,
    `postgres://greenroom@${name}?host=${encodeURIComponent(path)}`.replace('@/', '@localhost/'),
  ]) {
    const sql = connect(url, { max: 1, name: 'test', timeoutMs: 100 })
    expect((await sql`select current_database() as name`)[0]?.name).toBe(name.slice(1))
    await sql.end()
  }
})

test('int8 reads as a number, timestamptz as a Date, arrays and JSON as what they are', async () => {
  const [row] = await database.sql`
    select 9007199254740991::int8 as big, count(*) as count, '2026-01-02T03:04:05Z'::timestamptz as at,
           array[1, null, 3]::int4[] as numbers, array['a,b', '"', '\\', '', 'NULL', '{}'] as texts, '{}'::text[] as none,
           '{"a": [1]}'::jsonb as json from generate_series(1, 3)`
  expect(row).toEqual({
    big: 9_007_199_254_740_991,
    count: 3,
    at: new Date('2026-01-02T03:04:05Z'),
    numbers: [1, null, 3],
    texts: ['a,b', '"', '\\', '', 'NULL', '{}'],
    none: [],
    json: { a: [1] },
  })
})

describe.each([true, false])('arrays as parameters, prepared statements: %s', (prepare) => {
  test('arrive as they were sent', async () => {
    const sql = connect(`${database.url}?prepare=${prepare}`, { max: 1, name: 'test', timeoutMs: 1000 })
    const [texts, numbers, times] = [['a', 'ü"\\{', '', 'null'], [1, 2 ** 53 - 1], [new Date(0)]]
    const [row] = await sql`select ${texts}::text[] as texts, ${numbers}::bigint[] as numbers, ${[]}::uuid[] as none,
      ${sql.array(texts, 25)} as typed, ${sql.array(times, 1184)} as times, ${[true, null]}::text::text as text`.catch(
      (error: unknown) => [{ error }],
    )
    expect(row).toMatchObject({ texts, numbers, none: [], typed: texts, times })
    await sql.end()
  })
})

test('any array of texts survives the way there and back', async () => {
  const property = fc.asyncProperty(fc.array(fc.option(fc.string({ unit: 'grapheme' }))), async (texts) => {
    const clean = texts.map((text) => text?.replaceAll('\0', '') ?? null)
    expect(parseArray('text', serializeArray('text', clean))).toEqual(clean)
    expect((await database.sql`select ${clean}::text[] as texts`)[0]?.texts).toEqual(clean)
  })
  await fc.assert(property, { numRuns: 100 })
})

async function codeFrom(query: PromiseLike<unknown>): Promise<unknown> {
  try {
    await query
  } catch (error) {
    return error
  }
  throw new Error('The query did not fail.')
}

test('design section 3: bad data is told from a database that is away', async () => {
  const { sql } = database
  const bad = [
    sql`select 1 / 0`,
    sql`select ${'x'}::text::int`,
    sql`select ${'\0'}::text`,
    sql.unsafe('select repeat(repeat($$x$$, 1000000), 1100)'),
  ]
  for (const query of bad) {
    const error = await codeFrom(query)
    expect([codeOf(error), isBadData(error), isUnavailable(error)]).toEqual([expect.anything(), true, false])
  }
  await sql`create table held (n int unique)`
  await sql`insert into held values (1)`
  expect(isBadData(await codeFrom(sql`insert into held values (1)`))).toBe(true)
  const short = connect(database.url, { max: 1, name: 'short', timeoutMs: 20 })
  await sql.begin(async (tx) => {
    await tx`lock table held`
    expect(isUnavailable(await codeFrom(short`select * from held`))).toBe(true) // 55P03
  })
  expect(isUnavailable(await codeFrom(short`select pg_terminate_backend(pg_backend_pid())`))).toBe(true) // 57P01
  await short.end()
  expect(isUnavailable(await codeFrom(short`select 1`))).toBe(false) // we closed it: waiting would never end
  for (const url of ['postgres://u@127.0.0.1:1/d', 'postgres://u@%2Fno%2Fsuch%2Ffolder/d']) {
    const away = connect(url, { max: 1, name: 'away', timeoutMs: 20 })
    expect(isUnavailable(await codeFrom(away`select 1`)), url).toBe(true)
    await away.end()
  }
  expect(isUnavailable(await codeFrom(sql`select no_such_column`))).toBe(false)
  expect([isUnavailable(null), isUnavailable(new Error('x')), isBadData('22P02')]).toEqual([false, false, false])
})

test('a proxy that accepts and hangs up, as some do while the server is away, is a database that is away', async () => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `postgres://u@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/d`
  const sql = connect(url, { max: 1, name: 'test', timeoutMs: 100, connectTimeoutS: 0.5 })
  expect(isUnavailable(await codeFrom(sql`select 1`))).toBe(true)
  expect(isUnavailable(await codeFrom(sql.begin((tx) => tx`select 1`)))).toBe(true)
  await sql.end({ timeout: 0 })
  server.close()
})

test('a transaction whose connection ended while it paused rejects, stores nothing, and its pool goes on', async () => {
  const { sql } = database
  await sql`create table paused (n int)`
  const one = connect(database.url, { max: 1, name: 'paused', timeoutMs: 2000 })
  const error = await codeFrom(
    one.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`insert into paused values (1) returning pg_backend_pid() as pid`
      await sql`select pg_terminate_backend(${row?.pid ?? 0})`
      const isGone = async () => (await sql`select from pg_stat_activity where pid = ${row?.pid ?? 0}`).length === 0
      await expect.poll(isGone, { interval: 20 }).toBe(true)
      await setImmediate()
      return [await tx`insert into paused values (2)`, await tx`insert into paused values (3)`]
    }),
  )
  expect(isUnavailable(error)).toBe(true)
  expect(await one`select n from paused`).toEqual([])
  await one.end()
})

test('more queries than connections wait for their turn; after end() none is run', async () => {
  const sql = connect(database.url, { max: 2, name: 'turns', timeoutMs: 60_000 })
  const numbers = Array.from({ length: 50 }, (_, index) => index)
  const rows = await Promise.all(
    numbers.map((n) => (n % 5 ? sql`select ${n}::int as n` : sql.begin((tx) => tx`select ${n}::int as n`))),
  )
  expect(rows.map(([row]) => row?.n)).toEqual(numbers)
  const [{ count } = { count: 0 }] = await database.sql<{ count: number }[]>`
    select count(*) from pg_stat_activity where application_name = 'turns'`
  expect(count).toBe(2)
  await sql.end()
  expect(codeOf(await codeFrom(sql`select 1`))).toBe('CONNECTION_ENDED')
  expect(codeOf(await codeFrom(sql.begin((tx) => tx`select 1`)))).toBe('CONNECTION_ENDED')
})

test('a connection does not end by its age, which would fail the statement that follows on it', async () => {
  const sql = connect(`${database.url}?max_lifetime=0.1`, { max: 1, name: 'test', timeoutMs: 1000 })
  const [[long], [next]] = await Promise.all([
    sql`select pg_backend_pid() as pid from pg_sleep(0.3)`,
    sql`select pg_backend_pid() as pid`,
  ])
  expect(next?.pid).toBe(long?.pid)
  await sql.end()
})

test('a connection that the library is about to end, since nobody has used it for long, gets no statement', async () => {
  const losses = createLosses(1000)
  const sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, losses })
  const pid = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
  const first = await pid()
  const now = performance.now.bind(performance)
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 299_500)
  expect([await pid(), losses.count()]).toEqual([expect.not.toBeOneOf([first, undefined]), 0])
  await sql.end()
})

test('a settled query lets go of what it was built of', async () => {
  const query = database.sql`select ${'text'}::text as text`
  expect(await query).toEqual([{ text: 'text' }])
  expect(query).toMatchObject({ args: [], parameters: [], string: '', signature: '' })
})

test('a server that goes away rejects what was under way as unavailable; nothing hangs, and every row reaches its own query', async () => {
  const dataDir = await temporaryFolder()
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const embedded = await startEmbedded({ dataDir, log })
  const sql = connect(embedded.url, { max: 4, name: 'outage', timeoutMs: 2000 })
  let over = false
  let last = 0
  const failures: unknown[] = []
  const strayed: unknown[] = []
  const read = async (on: AnySql) => {
    last += 1
    const wanted = last
    const [row] = await on<{ n: number }[]>`select ${wanted}::int as n`
    if (row?.n !== wanted) strayed.push([wanted, row])
  }
  const work = async (action: () => Promise<unknown>) => {
    // Tries again at once, in the same turn of the event loop: the library's own pool hung then.
    while (!over) await action().catch((error: unknown) => void failures.push(error))
  }
  const inTransaction = () => sql.begin(async (tx) => [await read(tx), await read(tx)])
  const workers = [...Array(6).fill(() => read(sql)), ...Array(4).fill(inTransaction)].map(work)

  const file = join(dataDir, 'postgres', 'postmaster.pid')
  const server = async () => Number((await readFile(file, 'utf8').catch(() => '0')).split('\n')[0])
  const isBack = () =>
    read(sql).then(
      () => true,
      () => false,
    )
  for (const signal of ['SIGKILL', 'SIGINT', 'SIGQUIT'] as const) {
    const before = await server()
    process.kill(before, signal)
    await expect.poll(async () => [0, before].includes(await server())).toBe(false)
    await expect.poll(isBack).toBe(true)
  }
  // One server process that crashes takes all others along, while the server itself stays.
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  process.kill(backend?.pid ?? 0, 'SIGKILL')
  await expect.poll(isBack).toBe(true)

  over = true
  await Promise.all(workers)
  expect(strayed).toEqual([])
  expect(failures.length).toBeGreaterThan(0)
  expect(failures.filter((error) => !isUnavailable(error))).toEqual([])
  await sql.end()
  await embedded.stop()
  await rm(dataDir, { recursive: true })
})
