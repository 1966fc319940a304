/** The bytes of pictures and files go into the database as they are. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { keepContents } from '../../../../src/features/parts/store/parts.ts'
import { copyIn } from '../../../../src/persistence/postgres/copy.ts'
import { connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { readContent } from '../../../../src/persistence/replies/reading/part-rows.ts'
import { freshDatabase } from '../../../support/database.ts'
import { startPgBouncer } from '../../../support/programs/pgbouncer.ts'

const database = await freshDatabase()
const { sql } = database
const pgBouncer = await startPgBouncer(database.url)
const behind = connect(pgBouncer.url, { name: 'test', max: 4, timeoutMs: 2000, pooled: true })
afterAll(async () => {
  await behind.end({ timeout: 1 })
  await pgBouncer[Symbol.asyncDispose]()
  await database.drop()
})
const places = [
  ['on the server', sql],
  ['behind PgBouncer', behind],
] as const

const owner = { agentId: randomUUID(), sessionId: null, user: 'anna' }

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test.for(places)('a content in blocks of any size is read as it was, %s', async ([, sql]) => {
  const bytes = randomBytes(500_000)
  const content = {
    sha256: hash(bytes),
    size: bytes.length,
    pieces: [bytes.subarray(0, 1), bytes.subarray(1, 450_000), bytes.subarray(450_000)],
  }
  const [key = ''] = (await keepContents(sql, randomUUID(), { owner, contents: [content] })) ?? []
  const read: Uint8Array[] = []
  for await (const piece of readContent(sql, key)) read.push(piece)
  expect(Buffer.concat(read).equals(bytes)).toBe(true)
  expect(read.map((piece) => piece.length)).toEqual([196_608, 196_608, 106_784])
})

test('a content of which bytes are missing is not stored', async () => {
  const content = { sha256: hash(Buffer.from('ab')), size: 2, pieces: [Buffer.from('a')] }
  await expect(keepContents(sql, randomUUID(), { owner, contents: [content] })).rejects.toThrow('1 of 2 bytes')
  expect(await sql`select 1 from part_contents where size = 2`).toEqual([])
})

const copied = (sql: Sql, ...chunks: (Buffer | string)[]) =>
  sql.begin(async (tx) => {
    await tx`create temp table numbers (n integer primary key) on commit drop`
    await copyIn(
      tx`copy numbers (n) from stdin`,
      chunks.map((chunk) => Buffer.from(chunk)),
    )
    return await tx`select sum(n)::int as sum, count(*)::int as count from numbers`
  })

test.for(places)('rows that are copied are there for the statements that follow, %s', async ([, sql]) => {
  expect(await copied(sql, '1\n2', '0\n', '30\n')).toEqual([{ sum: 51, count: 3 }])
})

const failures = [
  ['at its end', ['1\n1\n'], '23505'],
  ['where the last row is cut off', ['1\nx'], '22P02'],
  ['while rows come', ['x\n', ...Array.from({ length: 200 }, () => Buffer.alloc(100_000, '1\n'))], '22P02'],
] as const
const everywhere = places.flatMap(([where, sql]) =>
  failures.map(([when, ...rest]) => [when, where, sql, ...rest] as const),
)

test.for(everywhere)('a copy that fails %s rejects, and its connection goes on, %s', async ([
  ,
  ,
  sql,
  chunks,
  code,
]) => {
  // A pooler may hang up on rows that come behind the failure before it has passed the failure on.
  const codes = sql === behind && chunks.length > 100 ? [code, 'CONNECTION_CLOSED'] : [code]
  await expect(copied(sql, ...chunks)).rejects.toMatchObject({ code: expect.toBeOneOf(codes) })
  expect(await Promise.all(Array.from({ length: 8 }, () => sql`select 1 as one`))).toHaveLength(8)
  expect(await copied(sql, '7\n')).toEqual([{ sum: 7, count: 1 }])
})
