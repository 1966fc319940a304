/** Decisions that no request waits for: the reply that follows begins as a queued message's does (contract section 29). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call, callsOfWaitingTest, openWaitingScene, reject } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { sent, count } = callsOfWaitingTest(scene)

/** Decides one call as a callback or an expiry does. Returns the reply that has begun. */
async function store(session: string, id: string): Promise<string | null> {
  const decisions = JSON.stringify([{ id, decision: 'approve' }])
  return await scene.app.sql.begin(async (sql) => {
    await sql`select 1 from sessions where id = ${session} for no key update`
    await sql`select decide_pending(${session}, w.reply_id, ${decisions}::text::jsonb, 'ann') from waits w where w.session_id = ${session}`
    const [row] = await sql<{ id: string | null }[]>`select follow_decided(null, 0, ${session}, 'ann') as id`
    return row?.id ?? null
  })
}

verifies(
  'contract-29.stored-decisions',
  'begins on an instance that tends queues, once, with all that was decided',
  async () => {
    const id = await scene.newSession()
    scene.up.next(asks('', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}')))
    await scene.send(id, 'Pay both!', { seed: 7, include_actions: true })
    expect(await store(id, 'c1')).toBeNull()
    expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c2' }])
    scene.says('Both paid.')
    expect(await store(id, 'c2')).toBeNull()
    expect((await scene.decide(id, [reject('c2')])).status).toBe(409)
    await expect.poll(async () => (await scene.shown(id)).at(-1)?.content).toBe('Both paid.')
    expect(scene.tools.requests.map(({ body }) => JSON.parse(body).amount).sort()).toEqual([1, 2])
    expect(await sent(count())).toMatchObject({ seed: 7 })
    const messages = await scene.shown(id)
    expect(messages).toHaveLength(3)
    expect(messages[1].toolCalls).toMatchObject([
      { decision: 'approve', decidedBy: 'ann', ok: true },
      { decision: 'approve', decidedBy: 'ann', ok: true },
    ])
    expect((await scene.call('GET', `${scene.sessions}/${id}/queue`)).json.queue).toEqual([])
  },
)
