/** Three processes on one PostgreSQL and nothing else (contract section 1). */
import { expect } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

verifies('contract-1.migrations', 'three processes that start at once on an empty database all start up', async () => {
  await using stack = new AsyncDisposableStack()
  const database = await freshDatabase({ empty: true })
  stack.defer(() => database.drop())
  const env = { DATABASE_URL: database.url, SECRET_KEY: 'the-same-for-all', DRAIN_TIMEOUT_S: '1' }
  const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startProduct({ direct: true, env })))
  for (const start of starts) if (start.status === 'fulfilled') stack.use(start.value)
  expect(starts.map((start) => (start.status === 'rejected' ? String(start.reason) : 'ready'))).toEqual(
    starts.map(() => 'ready'),
  )
  const applied = await database.sql`select version from schema_migrations where version > 0 order by version`
  expect(applied[0]?.version).toBe(25)
  expect(new Set(applied.map(({ version }) => version)).size).toBe(applied.length)
  const instances = await database.sql`select id from instances where lost_at is null`
  expect(instances).toHaveLength(3)
})
