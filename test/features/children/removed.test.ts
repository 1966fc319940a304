/** Children that have not begun when their parent ends (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import type { AnySql } from '../../../src/persistence/postgres/database.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
beforeAll(async () => {
  scene = await openTreeScene({ settings: {} })
})
afterAll(() => scene.close())

const unbegun = () => scene.app.sql<{ id: string }[]>`
  select session_id as id from queued_messages where rank = 3 and admission is null order by num`
const running = () => scene.app.sql`select 1 from sessions where parent is not null and status = 'streaming'`

/** A desk that asks billing ten times; the model of billing says nothing. */
async function asked() {
  const billing = await scene.newAgent('billing')
  const desk = await scene.newAgent('desk')
  await scene.toolsOf(desk, [{ agentId: billing }])
  scene.plays('desk', asks('', ...Array.from({ length: 10 }, (_, n) => asking('billing', `${n}`))))
  scene.plays('billing', ...Array.from({ length: 10 }, () => (call: { closed: Promise<void> }) => call.closed))
  const sessions = `/api/v1/agents/${desk}/deploy/sessions`
  const { id } = (await scene.call('POST', sessions, {})).json
  const path = `${sessions}/${id}/chat/completions`
  const reply = scene.call('POST', path, { messages: [{ role: 'user', content: 'All!' }] })
  return { path, billing, reply }
}

/** The call that makes a child, as its parent sends it; the child has not begun. */
async function callOf(child: string) {
  const [call] = await scene.app.sql<{ call: object; text: string; input: string }[]>`
    select jsonb_build_object(
             'session_id', c.session_id, 'user_id', q.id, 'reply_id', c.reply_id, 'agent_id', s.agent_id,
             'parent_session', c.parent_session, 'parent_reply', c.parent_reply, 'place', c.place, 'call_id', s.parent -> 'call_id',
             'title', s.title, 'max_session_bytes', 1000, 'facts', q.message -> 'facts') as call, q.content as text, q.input::text
      from children c join sessions s on s.id = c.session_id join queued_messages q on q.session_id = s.id
     where c.session_id = ${child}`
  if (call === undefined) throw new Error('no child that has not begun')
  return call
}

async function made(sql: AnySql, { call, text, input }: Awaited<ReturnType<typeof callOf>>) {
  const [row] = await sql<{ made: string }[]>`
    select open_child(${JSON.stringify(call)}::text::jsonb, ${text}, ${input}) as made`
  return row?.made
}

verifies(
  ['contract-30.child-cancel', 'contract-30.child-once'],
  'one that was removed, and made anew before the end of its parent was seen, is removed once more',
  async () => {
    const { sql } = scene.app
    const { path, reply } = await asked()
    await expect.poll(async () => [(await running()).length, (await unbegun()).length]).toEqual([8, 2])
    const [first, second] = await unbegun()
    const call = await callOf(second?.id ?? '')

    // Their removal waits for the first one.
    const held = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`select 1 from sessions where id = ${first?.id ?? ''} for update`
      held.resolve()
      await released.promise
    })
    await held.promise
    expect((await scene.call('POST', `${path}/cancel`)).status).toBe(204)
    await reply
    const waiting = () => sql`
      select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%from end_children()%'`
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0)
    await sql.begin(async (tx) => {
      const [{ text: goesOn } = { text: '' }] = await tx<{ text: string }[]>`
        select pg_get_functiondef('may_go_on_with_children(uuid, uuid)'::regprocedure) as text`
      await tx`delete from sessions where id = ${second?.id ?? ''}`
      await tx`
        create or replace function may_go_on_with_children(p_session uuid, p_reply uuid) returns boolean
        stable language plpgsql as $$ begin return true; end $$`
      expect(await made(tx, call)).toBe('open')
      await tx.unsafe(goesOn)
    })
    released.resolve()
    await holding
    await expect.poll(unbegun).toEqual([])
    await expect.poll(async () => (await running()).length).toBe(0)
  },
)

verifies(
  ['contract-30.child-deletion', 'contract-30.child-once'],
  'for a call whose session was deleted none is made anew, whoever goes on with its reply',
  async () => {
    const { path, billing, reply } = await asked()
    await expect.poll(async () => [(await running()).length, (await unbegun()).length]).toEqual([8, 2])
    const [first] = await unbegun()
    const call = await callOf(first?.id ?? '')
    const child = `/api/v1/agents/${billing}/deploy/sessions/${first?.id}`
    expect((await scene.call('DELETE', child)).status).toBe(204)
    expect(await made(scene.app.sql, call)).toBe('open')
    expect((await scene.call('GET', child)).status).toBe(404)
    expect((await scene.call('POST', `${path}/cancel`)).status).toBe(204)
    await reply
    await expect.poll(() => scene.app.sql`select 1 from gone_children`).toEqual([])
  },
)
