/** Statements of replies are planned once for all their values (`planOnce` of database.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, isPooled } from '../../../src/persistence/postgres/database.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { startPgBouncer } from '../../support/programs/pgbouncer.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
})
afterAll(() => database.drop())

async function plansOf(url: string, options: { planOnce?: boolean; pooled?: boolean }): Promise<string> {
  const sql = connect(url, { max: 1, name: 'test', timeoutMs: 1234, ...options })
  const [row] = await sql<{ mode: string }[]>`select current_setting('plan_cache_mode') as mode`.finally(() =>
    sql.end({ timeout: 1 }),
  )
  return row?.mode ?? ''
}

test('a connection that plans once says so to the server, others leave it to it', async () => {
  expect(await plansOf(database.url, { planOnce: true })).toBe('force_generic_plan')
  expect(await plansOf(database.url, {})).toBe('auto')
})

test('behind a pooler, which would refuse the parameter, it connects without', async () => {
  await using bouncer = await startPgBouncer(database.url)
  expect(await isPooled(bouncer.url)).toBe(true)
  expect(await plansOf(bouncer.url, { planOnce: true, pooled: true })).toBe('auto')
  await expect(plansOf(bouncer.url, { planOnce: true })).rejects.toThrow('unsupported startup parameter')
})
