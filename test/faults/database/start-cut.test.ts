/** A database that fails while an instance starts: the start retries. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { startProduct } from '../../support/programs/product.ts'

const CUTS = 8

let db: FreshDatabase
beforeAll(async () => {
  db = await freshDatabase()
})
afterAll(() => db.drop())

test('an instance starts although its connections are cut repeatedly', async () => {
  const started = startProduct({ direct: true, env: { DATABASE_URL: db.url, SECRET_KEY: 'a key for this test' } })
  let isOver = false
  const over = () => {
    isOver = true
  }
  started.then(over, over)
  for (let cuts = 0; cuts < CUTS && !isOver; await pause(5)) {
    const rows = await db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'greenroom%'`
    if (rows.length > 0) cuts += 1
  }
  await using product = await started
  expect((await fetch(`${product.url}/readyz`)).status).toBe(200)
}, 60_000)
