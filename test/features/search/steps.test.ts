/** How far a step gets that makes messages searchable. */
import { afterAll, expect } from 'vitest'
import { createIndexing } from '../../../src/features/search/store/search-index.ts'
import { freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

const { sql, drop } = await freshDatabase()
afterAll(drop)

verifies(
  'contract-31.search-soon',
  'a step waits a moment for those who are writing sessions, so that the next one reads none of them again',
  async () => {
    const [provider] = await sql<{ id: string }[]>`
      insert into providers (name, provider_type) values ('P', 'openai') returning id`
    const [agent] = await sql<{ id: string }[]>`
      insert into agents (name, provider_id, model) values ('A', ${provider?.id ?? ''}, 'm') returning id`
    const first = createIndexing(sql)
    while (await first());
    const [written, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const writer = sql.begin(async (tx) => {
      await tx`insert into sessions (id, agent_id) values (gen_random_uuid(), ${agent?.id ?? ''})`
      written.resolve()
      await end.promise
    })
    await written.promise
    const step = createIndexing(sql, async () => {
      end.resolve()
      await writer
    })
    await step()
    const progress = await sql`
      select changed = pg_sequence_last_value('session_changes'::regclass) as "isAll" from signature_progress`
    end.resolve()
    await writer
    expect(progress).toEqual([{ isAll: true }])
  },
)
