/** The cost of versions, drafts, feedback and remembered decisions for a reply that uses none of them (contract section 28). */
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openVersionScene } from './version-scene.ts'

const REPLIES = 20
/** Tables whose rows are for several replies at a time, or for the time that passes. */
const byTime = ['flushes', 'instances', 'jobs', 'message_signatures', 'signature_progress', 'step_runs']
const unused = ['agent_drafts', 'agent_draft_providers', 'feedback', 'remembered_decisions']

verifies('contract-28.costs', 'it reads and writes nothing of them, and no row more than it ever did', async () => {
  const scene = await openVersionScene()
  scene.up.always(async (call) => {
    await call.text('ok')
    await call.finish()
  })
  const { path } = await scene.newAgent()
  const sessions = `${path}/deploy/sessions`
  for (let n = 0; n < REPLIES; n++) {
    const { json } = await scene.ask('POST', sessions, {})
    const body = { messages: [{ role: 'user', content: 'Why?' }] }
    expect((await scene.ask('POST', `${sessions}/${json.id}/chat/completions`, body)).status).toBe(200)
  }
  // Connections report what they have done when they end.
  await Promise.all([scene.here.stop(), scene.there.stop()])
  const counts = async () =>
    await scene.database.sql<{ name: string; written: number; read: number }[]>`
    select relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::integer as written,
           (seq_scan + coalesce(idx_scan, 0))::integer as read
      from pg_stat_user_tables order by relname`
  const written = async () =>
    Object.fromEntries((await counts()).filter((one) => one.written > 0).map((one) => [one.name, one.written]))
  // Question and reply, and the end of the reply; the session, and its change at both ends of the reply.
  const exactly = { messages: 3 * REPLIES, sessions: 3 * REPLIES, token_usage: REPLIES }
  await expect.poll(written).toMatchObject(exactly)
  const unread = (await counts()).filter(({ name }) => unused.includes(name))
  expect(unread).toEqual(unused.toSorted().map((name) => ({ name, written: 0, read: 0 })))
  // The first version of an agent that was not made by the API.
  await expect.poll(async () => (await written()).agent_versions).toBe(1)
  const others = Object.entries(await written()).filter(([name]) => !(name in exactly) && !byTime.includes(name))
  expect(others.filter(([, rows]) => rows >= REPLIES)).toEqual([])
  await scene.close()
})
