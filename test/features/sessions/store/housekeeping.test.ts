/** Rows that expire: logins, keys, transitions, intents. Sessions: sessions.test.ts. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { forgetSessionDeletions } from '../../../../src/features/live-lists/store/session-changes.ts'
import { tidyReplies } from '../../../../src/features/sessions/store/housekeeping.ts'
import { forgetOldSteps } from '../../../../src/features/traces/store/transitions.ts'
import { tidyLogins } from '../../../../src/features/users/store/logins.ts'
import { forgetRevocations } from '../../../../src/features/users/store/users.ts'
import { forgetDeliveries } from '../../../../src/features/webhooks/store/deliveries.ts'
import { openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const rules = ['contract-1.retention', 'contract-22.session-stream-ids', 'contract-22.webhook-deliveries'] as const
  verifies(rules, 'each kind of row is deleted after its own time, not before', async () => {
    const { sql } = scene
    const session = await scene.newSession()
    const ago = (age: string) => sql`clock_timestamp() - ${age}::interval`
    // The key states the row's expected fate.
    const login = (username: string, made: string, seen: string) => sql`
      insert into logins (token_hash, username, credential_hash, created_at, seen_at)
      values (${Buffer.from(username)}, ${username}, '', ${ago(made)}, ${ago(seen)})`
    await login('stays', '29 days 23 hours', '6 days 23 hours')
    await login('goes, too old', '30 days 1 hour', '1 hour')
    await login('goes, not seen', '8 days', '7 days 1 hour')
    for (const [key, age] of [
      ['stays', '23 hours'],
      ['goes', '25 hours'],
    ] as const) {
      await sql`
        insert into idempotency_keys (session_id, key, body_hash, reply_id, created_at)
        values (${session}, ${key}, '', ${randomUUID()}, ${ago(age)})`
    }
    for (const [address, age] of [
      ['stays', '59 minutes'],
      ['goes', '61 minutes'],
    ] as const)
      await sql`insert into login_failures (address, username, at) values (${address}, 'u', ${ago(age)})`
    for (const [event, age] of [
      ['stays', '6 days'],
      ['goes', '8 days'],
    ] as const) {
      await sql`
        insert into transitions (session_id, at, from_state, to_state, event, instance_id)
        values (${session}, ${ago(age)}, 'idle', 'streaming', ${event}, ${randomUUID()})`
      await sql`
        insert into step_runs (session_id, at, instance_id, steps)
        values (${session}, ${ago(age)}, ${randomUUID()},
                jsonb_build_array(jsonb_build_array(null, 'transition', 'idle', 'streaming', ${event}::text, '{}'::jsonb)))`
    }
    for (const [kind, age] of [
      ['cancel', '23 hours'],
      ['delete', '25 hours'],
    ] as const) {
      await sql`
        insert into intents (instance_id, kind, session_id, created_at)
        values (${randomUUID()}, ${kind}, ${session}, ${ago(age)})`
    }
    for (const [user, age] of [
      ['stays', '3 hours'], // longer than any client secret is good
      ['goes', '25 hours'],
    ] as const) {
      await sql`
        insert into revocations (agent_id, end_user, number, revoked_at)
        values (${scene.agentId}, ${user}, 1, ${ago(age)})`
    }
    for (const [user, age] of [
      ['stays', '29 days 23 hours'],
      ['goes', '30 days 1 hour'],
    ] as const) {
      await sql`
        insert into session_deletions (session_id, agent_id, user_hash, at)
        values (${session}, ${scene.agentId}, ${Buffer.from(user)}, ${ago(age)})`
      await sql`
        with hook as (
          insert into webhooks (name, url, events, secret) values (${user}, '', '{reply.completed}', '') returning id)
        insert into webhook_deliveries (webhook_id, type, session_id, body, created_at)
        select id, 'reply.completed', ${session}, ${user}, ${ago(age)} from hook`
    }
    // Two instances at once, and once more: only expired rows go.
    const forget = [tidyLogins, forgetRevocations, forgetSessionDeletions, forgetDeliveries]
    const tidy = () => Promise.all([tidyReplies(sql, null), forgetOldSteps(sql, 7), ...forget.map((one) => one(sql))])
    await Promise.all([tidy(), tidy()])
    await tidy()
    const left = await sql<{ of: string; key: string }[]>`
      select 'login' as of, username as key from logins
      union all select 'key', key from idempotency_keys
      union all select 'failure', address from login_failures
      union all select 'transition', event from steps
      union all select 'intent', kind from intents
      union all select 'revocation', end_user from revocations
      union all select 'deletion', convert_from(user_hash, 'UTF8') from session_deletions
      union all select 'delivery', body from webhook_deliveries`
    expect(left.map(({ of, key }) => `${of} ${key}`).sort()).toEqual([
      'deletion stays',
      'delivery stays',
      'failure stays',
      'intent cancel',
      'key stays',
      'login stays',
      'revocation stays',
      'transition stays',
      'transition stays',
    ])
  })
})
