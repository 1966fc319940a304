/** Claims of deliveries, at SQL level (contract section 22). */
import { expect } from 'vitest'
import { claimDeliveries, deliverAgain, storeAttempt } from '../../../../src/features/webhooks/store/deliveries.ts'
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
    const claim = () => claimDeliveries(sql, { running: new Map(), mostEach: 8, claimMs: 30_000 })
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
