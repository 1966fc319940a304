/** A user's sessions are counted without a visit to the table for each of them, in any state of vacuum. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { listSessions } from '../../../../../src/features/sessions/store/sessions.ts'
import { freshDatabase } from '../../../../support/database.ts'
import { inTier } from '../../../../support/tier.ts'
import { verifies } from '../../../../verifies.ts'

const SESSIONS = 10_000
/** Every third one is the user's. */
const OWN = Math.ceil(SESSIONS / 3)

describe.each(inTier([18, 15] as const))('PostgreSQL %i', (version) => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let agentId: string
  beforeAll(async () => {
    database = await freshDatabase({ version })
    const { sql } = database
    await sql`alter table sessions set (autovacuum_enabled = false)`
    const [provider] = await sql`insert into providers (name, provider_type) values ('p', 'demo') returning id`
    const [agent] = await sql`
      insert into agents (name, provider_id, model) values ('a', ${provider?.id}, 'm') returning id`
    agentId = agent?.id
    // By time they lie in another order than in the table, as sessions do after some months.
    await sql`
      insert into sessions (agent_id, end_user, title, metadata, updated_at)
      select ${agentId}, case when i % 3 = 1 then 'ann' end, 'No. ' || i, jsonb_build_object('plan', i % 2),
             now() - make_interval(secs => (i * 7919) % ${SESSIONS})
        from generate_series(1, ${SESSIONS}) i`
  })
  afterAll(() => database.drop())

  /** Pages that the count has read, those of the indexes included. */
  async function pagesRead(): Promise<number> {
    const [row] = await database.sql<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }[]>`
      explain (analyze, buffers, format json) select count_sessions(${agentId}, 'ann', null, null)`
    const plan = row?.['QUERY PLAN'][0]?.Plan
    return (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN)
  }

  /** What the statistics of writes say is known a second after them at the latest. */
  const writtenSinceVacuum = async () => {
    const [row] = await database.sql`
      select n_dead_tup as dead, n_ins_since_vacuum as inserted from pg_stat_user_tables where relname = 'sessions'`
    return { dead: row?.dead, inserted: row?.inserted }
  }

  verifies('contract-11.large-lists', 'with all conditions it counts what the list holds', async () => {
    const { sql } = database
    const totalOf = async (query: object) =>
      (await listSessions(sql, agentId, { limit: 1, offset: 0, ...query }))?.total
    const metadata = { plan: 1 as unknown as string }
    expect(await totalOf({ user: 'ann' })).toBe(OWN)
    expect(await totalOf({ owner: 'ann' })).toBe(OWN)
    expect(await totalOf({ owner: 'ann', user: 'ann', metadata })).toBe(Math.ceil(OWN / 2))
    expect(await totalOf({ user: 'ann', q: 'no. 1000' })).toBe(2) // 1000 and 10000
    expect(await totalOf({ user: 'ann', metadata, q: 'no. 1000' })).toBe(0)
    expect(await totalOf({ owner: 'ann', user: 'bob' })).toBe(0)
    expect(await totalOf({})).toBe(SESSIONS)
  })

  verifies(
    'contract-11.large-lists',
    'it reads each page once, before a vacuum, after it and after changes',
    async () => {
      const { sql } = database
      const [table] = await sql<{ pages: number }[]>`
      select (pg_relation_size('sessions') / current_setting('block_size')::integer)::integer as pages`
      const pages = table?.pages ?? 0
      const once = 2 * pages // with those of the index, and of what the planner reads
      expect(once, 'far fewer pages than rows').toBeLessThan(OWN / 4)
      expect(await pagesRead(), 'just filled, nothing known').toBeLessThan(once)
      // Told after the vacuum, they would count as rows since then.
      await expect.poll(writtenSinceVacuum).toMatchObject({ inserted: SESSIONS })
      await sql`vacuum analyze sessions`
      await expect.poll(writtenSinceVacuum).toEqual({ dead: 0, inserted: 0 })
      expect(await pagesRead(), 'index alone').toBeLessThan(pages)
      await sql`update sessions set title = 'changed' where num % 20 = 0`
      await expect.poll(writtenSinceVacuum).toMatchObject({ dead: SESSIONS / 20 })
      expect(await pagesRead(), 'every page was changed').toBeLessThan(once)
    },
  )
})
