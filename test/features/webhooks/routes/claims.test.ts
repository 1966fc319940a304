/** Claims of deliveries, at SQL level (contract section 22). */
import { expect } from 'vitest'
import { deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import {
  claimDeliveries,
  deliverAgain,
  disableGone,
  storeAttempt,
} from '../../../../src/features/webhooks/store/deliveries.ts'
import type { Sql } from '../../../../src/persistence/postgres/database.ts'
import { openScene } from '../../../persistence/scene.ts'
import { freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'

verifies(
  'contract-22.webhook-deliveries',
  'one asked for again is made, whatever comes of the attempt that runs',
  async () => {
    const { sql, drop } = await freshDatabase()
    await using stack = new AsyncDisposableStack()
    stack.defer(drop)
    const [hook] = await sql<{ id: string }[]>`
    insert into webhooks (name, url, events, secret) values ('W', 'http://127.0.0.1:1/', '{session.deleted}', 's') returning id`
    await sql`
    insert into webhook_deliveries (webhook_id, type, session_id, body, failures)
    values (${hook?.id ?? ''}, 'session.deleted', gen_random_uuid(), '{}', 7)`
    const claim = () => claimDeliveries(sql, { running: new Map(), turns: new Map(), mostEach: 8, claimMs: 30_000 })
    const outcomes = [
      { result: 'failed', status: 500, error: 'It failed.', retryMs: null },
      { result: 'delivered', status: 204 },
    ] as const
    for (const outcome of outcomes) {
      const [running] = await claim()
      if (running === undefined) throw new Error('Nothing is due.')
      expect(await deliverAgain(sql, running.webhookId, running.id)).toBe(true)
      await storeAttempt(sql, running, outcome)
      const [again] = await claim()
      expect(again).toMatchObject({ id: running.id, failures: 0 })
      await sql`update webhook_deliveries set next_attempt_at = clock_timestamp()`
    }
    const [last] = await claim()
    if (last === undefined) throw new Error('Nothing is due.')
    await storeAttempt(sql, last, { result: 'delivered', status: 204 })
    expect(await claim()).toEqual([])
    expect(await sql`select status, attempts from webhook_deliveries`).toEqual([{ status: 'delivered', attempts: 5 }])
  },
)

/** A webhook, and events of owners that are due, the first ones longest. */
async function dueFor(sql: Sql, owners: readonly (string | null)[]): Promise<string> {
  const [hook] = await sql<{ id: string }[]>`
    insert into webhooks (name, url, events, secret) values ('W', 'http://127.0.0.1:1/', '{session.deleted}', 's') returning id`
  await sql`
    insert into webhook_deliveries (webhook_id, owner, type, session_id, body, next_attempt_at)
    select ${hook?.id ?? ''}, decode(o.owner, 'hex'), 'session.deleted', gen_random_uuid(), '{}',
           clock_timestamp() - interval '1 hour' + o.n * interval '1 millisecond'
      from unnest(${[...owners]}::text[]) with ordinality as o (owner, n)`
  return hook?.id ?? ''
}

verifies(
  'contract-26.webhook-turns',
  'one event of each owner is claimed in turn, however many others have',
  async () => {
    const { sql, drop } = await freshDatabase()
    await using stack = new AsyncDisposableStack()
    stack.defer(drop)
    const webhookId = await dueFor(sql, [...Array(500).fill('bb'), 'aa', 'aa', 'cc', null])
    const turns = new Map<string, string>()
    const claim = async (mostEach: number) => {
      const claimed = await claimDeliveries(sql, { running: new Map(), turns, mostEach, claimMs: 30_000 })
      turns.set(webhookId, claimed.at(-1)?.owner ?? '')
      return claimed.map(({ owner }) => owner)
    }
    expect(await claim(2)).toEqual(['aa', 'bb'])
    expect(await claim(2)).toEqual(['cc', 'aa'])
    expect(await claim(8)).toEqual(Array(8).fill('bb'))
    // What an earlier version has recorded comes when it is due longest.
    await sql`update webhook_deliveries set next_attempt_at = null, status = 'delivered' where owner = '\\xbb'`
    expect(await claim(8)).toEqual([null])
  },
)

verifies('contract-26.webhook-turns', 'those whose retries are not due keep nobody from theirs', async () => {
  const { sql, drop } = await freshDatabase()
  await using stack = new AsyncDisposableStack()
  stack.defer(drop)
  const owners = Array.from({ length: 300 }, (_, n) => n.toString(16).padStart(4, '0'))
  await dueFor(sql, owners)
  await sql`update webhook_deliveries set next_attempt_at = clock_timestamp() + interval '1 hour' where owner <> '\\x0100'`
  const claimed = await claimDeliveries(sql, { running: new Map(), turns: new Map(), mostEach: 8, claimMs: 30_000 })
  expect(claimed.map(({ owner }) => owner)).toEqual(['0100'])
})

verifies('contract-22.webhook-retries', '410 of an address that it has no more disables no webhook', async () => {
  const { sql, drop } = await freshDatabase()
  await using stack = new AsyncDisposableStack()
  stack.defer(drop)
  const webhookId = await dueFor(sql, [])
  expect(await disableGone(sql, { webhookId, url: 'http://127.0.0.1:2/' })).toBe(false)
  expect(await disableGone(sql, { webhookId, url: 'http://127.0.0.1:1/' })).toBe(true)
})

verifies(
  ['contract-35.never-said', 'contract-22.webhook-agents'],
  'the deletion of a session that had a message is told to the webhooks of its agent, and of no other',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    await sql`
    insert into webhooks (name, url, events, secret, agent_ids)
    select 'W', 'http://127.0.0.1:1/', '{session.deleted}', 's', unnest(array[null, '{}'])::uuid[]`
    const [never, given, said] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, next_seq) select ${agentId}, unnest(array[1, 1, 5]) returning id`
    await sql`
    insert into messages (id, session_id, position, role, status)
    values (gen_random_uuid(), ${given?.id ?? ''}, 0, 'user', 'complete')`
    for (const session of [never, given, said]) await deleteSession(sql, agentId, session?.id ?? '')
    const told = await sql<{ session_id: string }[]>`select session_id from webhook_deliveries order by num`
    expect(told.map(({ session_id: id }) => id)).toEqual([given?.id, said?.id])
  },
)
