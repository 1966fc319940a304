/** A database whose tables are all published for logical replication (contract section 35). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { inTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'

describe.each(inTier([18, 15] as const))('PostgreSQL %i', (version) => {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp({ version, settings: { AUTH_CREDENTIALS: 'ada:right', PUBLIC_API_KEY: 'deploy' } })
    // The check of a change does not depend on wal_level, which this only warns of.
    await app.sql`create publication everything for all tables`
  })
  afterAll(() => app[Symbol.asyncDispose]())

  verifies('contract-35.published', 'every table has a primary key or a replica identity', async () => {
    const rows = await app.sql<{ name: string }[]>`
      select c.oid::regclass::text as name from pg_class c
       where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
         and not case c.relreplident
               when 'd' then exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
               when 'i' then exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident)
               else c.relreplident = 'f' end`
    expect(rows.map(({ name }) => name)).toEqual([])
  })

  verifies('contract-35.published', 'logins, revocations of keys and counts of use go on', async () => {
    const login = async (password: string) =>
      await fetch(`${app.url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'ada', password }),
      })
    expect((await login('wrong')).status).toBe(401)
    const { status, headers } = await login('right')
    expect(status).toBe(200)
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    const call = (path: string, method: string, body?: object) =>
      fetch(`${app.url}/api/v1/${path}`, {
        method,
        headers: { cookie, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const { agentId } = await createAgent(app)
    const made = await call('keys', 'POST', { name: 'one', scopes: ['deploy'] })
    expect(made.status).toBe(201)
    const { id, key } = Object(await made.json())
    const used = await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(used.status).toBe(200)
    expect((await call(`keys/${id}`, 'DELETE')).status).toBe(204)
    await app.sql`insert into limit_usage (subject, day, tokens, cost)
                  select 'one', current_date, 1, 1 from generate_series(1, 2)`
    await app.sql`select fold_limit_usage('one')`
    expect(await app.sql`select tokens::int from limit_usage where subject = 'one'`).toEqual([{ tokens: 2 }])
  })
})
