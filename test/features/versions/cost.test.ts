/** The cost of versions, drafts, feedback and remembered decisions for a reply that uses none of them (contract section 28). */
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openVersionScene } from './version-scene.ts'

const REPLIES = 20
const unused = ['agent_drafts', 'agent_draft_providers', 'feedback', 'remembered_decisions']

verifies('contract-28.costs', 'it reads and writes nothing of them', async () => {
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
  const counts = async (tables: readonly string[]) =>
    await scene.database.sql<{ name: string; written: number; read: number }[]>`
    select relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::integer as written,
           (seq_scan + coalesce(idx_scan, 0))::integer as read
      from pg_stat_user_tables where relname = any(${tables}::text[]) order by relname`
  await expect.poll(async () => (await counts(['messages']))[0]?.written).toBeGreaterThanOrEqual(3 * REPLIES)
  expect([...(await counts(unused))]).toEqual(unused.toSorted().map((name) => ({ name, written: 0, read: 0 })))
  // The first version of an agent that was not made by the API.
  await expect.poll(async () => (await counts(['agent_versions']))[0]?.written).toBe(1)
  await scene.close()
})
