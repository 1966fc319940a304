/** The audit as it is collected (contract section 33). */
import { afterAll, beforeAll, expect } from 'vitest'
import { followEntries, forgetEntries, writeEntries } from '../../../../src/features/audit/store/audit.ts'
import { type AnySql, connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'

let database: FreshDatabase
let sql: Sql
beforeAll(async () => {
  database = await freshDatabase()
  sql = connect(database.url, { max: 4, name: 'test', timeoutMs: 0 })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const write = (to: AnySql, ...names: string[]) =>
  writeEntries(
    to,
    { actor: 'anna', actorKind: 'login', ip: null, requestId: null },
    names.map((recordName) => ({ action: 'update', kind: 'prompt', recordId: null, recordName, changes: {} })),
  )
const follow = async (after: string, limit = 100) => {
  const found = await followEntries(sql, { after: BigInt(after), limit })
  return { names: found?.entries.map(({ recordName }) => recordName), next: found?.next ?? '' }
}

verifies(
  'contract-33.audit-feed',
  'an entry whose transaction commits late comes after those that were read',
  async () => {
    const { next: start } = await follow('0')
    const begun = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const late = sql.begin(async (tx) => {
      await write(tx, 'late 1', 'late 2')
      begun.resolve()
      await mayCommit.promise
    })
    await begun.promise
    await write(sql, 'early')
    const first = await follow(start)
    expect(first.names).toEqual(['early'])
    mayCommit.resolve()
    await late
    const second = await follow(first.next)
    expect(second.names).toEqual(['late 1', 'late 2'])
    expect((await follow(start)).names).toEqual(['early', 'late 1', 'late 2'])
    expect(await follow(second.next)).toEqual({ names: [], next: second.next })
  },
)

verifies('contract-33.audit-feed', 'whoever follows pages while many write reads each entry once', async () => {
  let { next } = await follow('0')
  const names = Array.from({ length: 60 }, (_, n) => `entry ${n}`)
  const writing = Promise.all(names.map((name) => sql.begin(async (tx) => await write(tx, `${name} a`, `${name} b`))))
  const read: (string | null)[] = []
  const readOn = async () => {
    const page = await follow(next, 7)
    read.push(...(page.names ?? []))
    next = page.next
    return page.names?.length
  }
  while (read.length < 40) await readOn()
  await writing
  while ((await readOn()) !== 0);
  expect(read.toSorted()).toEqual(names.flatMap((name) => [`${name} a`, `${name} b`]).toSorted())
})

verifies(
  'contract-33.audit-feed',
  'a place stays good when retention has removed all that lies before it',
  async () => {
    await write(sql, 'gone')
    const { next } = await follow('0')
    await sql`update audit_entries set at = at - interval '2 hours'`
    await write(sql, 'kept')
    await sql`update audit_entries set at = at - interval '23 hours'`
    await forgetEntries(sql, 1)
    await write(sql, 'new')
    expect((await follow(next)).names).toEqual(['kept', 'new'])
    expect((await follow('0')).names).toEqual(['kept', 'new'])
  },
)

verifies('contract-33.audit-feed', 'a place that was never given is none', async () => {
  const { next } = await follow('0')
  expect(await followEntries(sql, { after: BigInt(next) + 1n, limit: 1 })).toBeNull()
})
