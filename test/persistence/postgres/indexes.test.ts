/** Indexes of tables that may be large already when a version brings them. */
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { readIndexes } from '../../../src/persistence/postgres/schema/indexes.ts'
import { buildMissingIndexes, migrate, schema } from '../../../src/persistence/schema.ts'
import { freshDatabase } from '../../support/database.ts'
import { inTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'

describe.each(inTier([18, 15] as const))('PostgreSQL %i', (version) => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  beforeEach(async () => {
    database = await freshDatabase({ version })
  })
  afterEach(() => database.drop())

  /** So many sessions that their table counts as large. Returns their agent. */
  async function manySessions(): Promise<string> {
    const { sql } = database
    const [agent] = await sql<{ id: string }[]>`
      with provider as (insert into providers (name, provider_type) values ('p', 'demo') returning id)
      insert into agents (name, provider_id, model) select 'a', id, 'm' from provider returning id`
    const { id } = agent ?? { id: '' }
    await sql`insert into sessions (agent_id) select ${id} from generate_series(1, 10001)`
    return id
  }

  const valid = async () => {
    const rows = await database.sql<{ name: string; valid: boolean }[]>`
      select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
       where c.relname = 'sessions_by_user'`
    return rows.map((row) => row.valid)
  }

  verifies('contract-11.large-lists', 'a small table gets them with the migration', async () => {
    expect(await valid()).toEqual([true])
    expect(await buildMissingIndexes(database.sql)).toEqual([])
    await database.sql`drop index sessions_by_user`
    expect(await migrate(database.sql)).toEqual(['sessions_by_user'])
    expect(await migrate(database.sql)).toEqual([])
  })

  verifies(
    'contract-11.large-lists',
    'a large one beside everything else, and anew when it was broken off',
    async () => {
      const { sql } = database
      const agent = await manySessions()
      await sql`drop index sessions_by_user`
      expect(await migrate(sql), 'no start waits for it').toEqual([])
      // Another one writes meanwhile: the build waits for it and is broken off, which leaves an invalid index behind.
      const writing = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      const writer = sql.begin(async (tx) => {
        await tx`insert into sessions (agent_id) values (${agent})`
        held.resolve()
        await writing.promise
      })
      await held.promise
      const building = buildMissingIndexes(sql)
      const broken = expect(building).rejects.toThrow()
      await expect
        .poll(async () => {
          // It waits for the writer's transaction. Earlier it may wait for the table, while that is vacuumed: broken off
          // there, it leaves nothing behind.
          const [row] = await sql`
            select pg_cancel_backend(pid) as done from pg_stat_activity
             where query like '%create index concurrently%' and wait_event_type = 'Lock' and wait_event = 'virtualxid'`
          return row?.done ?? false
        })
        .toBe(true)
      await broken
      writing.resolve()
      await writer
      expect(await valid()).toEqual([false])
      expect(await buildMissingIndexes(sql)).toEqual(['sessions_by_user'])
      expect(await valid()).toEqual([true])
    },
  )
})

verifies('contract-11.large-lists', 'each file names its index and its table', async () => {
  const indexes = await readIndexes(schema.indexes)
  expect(indexes.map(({ name, table }) => [name, table])).toContainEqual(['sessions_by_user', 'sessions'])
})
