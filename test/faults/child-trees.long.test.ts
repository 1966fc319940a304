/**
 * Random trees of agents that ask agents, on two instances that are killed, or asked to end, again and again (contract
 * section 30): one child for each call, whose answer its parent is told, and one end for each.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { type Product, postJson } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'
import { addAgents, answering, plant, type Tree } from './child-trees.ts'
import { openToolFaults, type ToolFaults } from './tool-faults.ts'

const TREES = samples(20, 500)
const LEASE_MS = 1500
vi.setConfig({ testTimeout: 300_000 + TREES * 4000 })
/** Longest time in which nothing may happen in a tree that asks nobody, while no instance comes or goes (milliseconds). */
const BOUND_MS = LEASE_MS + 10_000
/** Longest time between two trees (milliseconds). */
const SPREAD_MS = 1500
/**
 * Ends one of the instances, then the other, until `isOver`; each comes back. Now and then there is quiet, for as long as
 * nobody may wait. `onChange` is called when an instance has come or gone.
 */
async function unrest(
  scene: ToolFaults,
  products: Product[],
  random: () => number,
  { isOver, onChange }: { isOver(): boolean; onChange(): void },
) {
  let ends = 0
  while (!isOver()) {
    await delay(random() < 0.1 ? BOUND_MS + 2000 : 1000 + random() * 2000)
    const all = random() < 0.2
    const which = random() < 0.5 ? 0 : 1
    for (const n of all ? [0, 1] : [which]) {
      ends += 1
      if (random() < 0.7) await products[n]?.kill9()
      else await products[n]?.stop()
      onChange()
    }
    for (const n of all ? [0, 1] : [which]) {
      products[n] = await scene.start('direct')
      onChange()
    }
  }
  return ends
}

/** Decides what is pending, at random sessions that wait: at the one that asks or above it, all of it or the first. */
async function decideAll(
  { database: { sql } }: ToolFaults,
  products: Product[],
  random: () => number,
  isOver: () => boolean,
) {
  let decided = 0
  while (!isOver()) {
    await delay(300)
    const waiting = await sql<{ id: string; agentId: string }[]>`
      select id, agent_id as "agentId" from sessions where status = 'waiting' order by md5(id::text || ${random()}::text) limit 4`
    for (const { id, agentId } of waiting) {
      const path = `${products[random() < 0.5 ? 0 : 1]?.url}/api/v1/agents/${agentId}/deploy/sessions/${id}`
      const answer = await fetch(path).catch(() => null)
      const record = (await answer?.json().catch(() => null)) as { pending?: { call_id: string }[] } | null
      const pending = record?.pending ?? []
      const some = random() < 0.5 ? pending : pending.slice(0, 1)
      const decisions = some.map(({ call_id }) => ({ call_id, decision: 'approve' }))
      if (decisions.length > 0) void postJson(`${path}/actions`, { decisions }).catch(() => {})
      decided += decisions.length
    }
  }
  return decided
}

/** Cancels or deletes random children that run or wait, each alone. Resolves to those that were deleted. */
async function endChildren(
  { database: { sql } }: ToolFaults,
  products: Product[],
  random: () => number,
  isOver: () => boolean,
) {
  const deleted: string[] = []
  let cancelled = 0
  while (!isOver()) {
    await delay(500 + random() * 1000)
    const [child] = await sql<{ id: string; agentId: string }[]>`
      select id, agent_id as "agentId" from sessions where parent is not null and status in ('streaming', 'waiting')
       order by md5(id::text || ${random()}::text) limit 1`
    if (child === undefined) continue
    const path = `${products[random() < 0.5 ? 0 : 1]?.url}/api/v1/agents/${child.agentId}/deploy/sessions/${child.id}`
    const deletes = random() < 0.5
    const asked = deletes ? fetch(path, { method: 'DELETE' }) : postJson(`${path}/chat/completions/cancel`, {})
    const isDone = (await asked.catch(() => null))?.status === 204
    if (isDone && deletes) deleted.push(child.id)
    else if (isDone) cancelled += 1
  }
  return { deleted, cancelled }
}

interface Unfinished {
  top: string
  /** The tree as it is: another one once anything has happened in it. */
  print: string
  /** Whether somebody is asked something in it. */
  asks: boolean
}

/** Returns the trees in which a session runs, waits or is still to begin. */
const unfinished = ({ database: { sql } }: ToolFaults): Promise<Unfinished[]> => sql<Unfinished[]>`
  with looked as materialized (
    select coalesce(c.top_session, s.id) as top, s.id, s.status, s.change, s.queued, c.over,
           s.status in ('streaming', 'waiting') or s.queued > 0 or not coalesce(c.over, true) as open
      from sessions s left join children c on c.session_id = s.id
  )
  select l.top, bool_or(l.status = 'waiting' and exists (select from pending_entries(l.id))) as asks,
         md5(string_agg(concat_ws(' ', l.id, l.status, l.change, l.queued, l.over,
                          (select count(*) from messages m where m.session_id = l.id),
                          (select count(*) from waiting_calls w where w.session_id = l.id and w.decision is not null)),
                        ',' order by l.id)) as print
    from looked l where l.top in (select o.top from looked o where o.open) group by l.top`

/**
 * Watches until `isOver` and nothing is left to do. Returns the longest time in which nothing happened in a tree that asked
 * nobody, since an instance had come or gone (milliseconds).
 */
async function watch(scene: ToolFaults, { changedAt, isOver }: { changedAt(): number; isOver(): boolean }) {
  const seen = new Map<string, { print: string; at: number }>()
  let longest = 0
  for (;;) {
    const wasOver = isOver()
    const trees = await unfinished(scene)
    if (wasOver && trees.length === 0) return longest
    const now = performance.now()
    for (const { top, print, asks: isAsked } of trees) {
      const before = seen.get(top)
      if (before?.print === print && !isAsked) longest = Math.max(longest, now - Math.max(before.at, changedAt()))
      else seen.set(top, { print, at: now })
    }
    await delay(500)
  }
}

verifies(
  [
    'contract-30.child-once',
    'contract-30.child-loss',
    'contract-30.child-cancel',
    'contract-30.child-deletion',
    'contract-30.child-decided',
  ],
  'whatever dies, each call has one child, each parent its answer, and each reply one end',
  async () => {
    const random = seededRandom('child trees')
    await using scene = await openToolFaults({ leaseMs: LEASE_MS, env: { DRAIN_TIMEOUT_S: '1' } })
    scene.up.always(answering(random))
    const products = [await scene.start('direct'), await scene.start('direct')]
    const [first] = products
    if (!first) throw new Error('no instance')
    const agent = await addAgents(first, scene.agentId())
    const trees: Tree[] = []
    let isPlanted = false
    let isOver = false
    let changedAt = performance.now()
    const onChange = () => {
      changedAt = performance.now()
    }
    const ending = unrest(scene, products, random, { isOver: () => isPlanted, onChange })
    const watching = watch(scene, { changedAt: () => changedAt, isOver: () => isPlanted })
    const deciding = decideAll(scene, products, random, () => isOver)
    const meddling = endChildren(scene, products, random, () => isPlanted)
    for (let n = 0; trees.length < TREES; n++) {
      const tree = await plant(products[n % 2]?.url ?? '', agent, random, n)
      if (tree) trees.push(tree)
      await delay(random() * SPREAD_MS)
    }
    isPlanted = true
    const ends = await ending
    const { deleted, cancelled } = await meddling
    // Sessions that ask are decided meanwhile.
    const longest = await watching
    isOver = true
    const decided = await deciding
    expect(longest).toBeLessThanOrEqual(BOUND_MS)
    const { sql } = scene.database
    const calls = await sql<{ status: string; content: string; result: string | null; n: number }[]>`
      select m.status, c.result, count(s.id)::integer as n, min(a.content) as content
        from messages m
       cross join lateral (
         select e.value -> 'event' ->> 'id' as id, min(r.value -> 'event' ->> 'content') as result
           from jsonb_array_elements(m.tool_events) e
           left join jsonb_array_elements(m.tool_events) r
             on r.value -> 'event' ->> 'type' = 'tool_result' and r.value -> 'event' ->> 'id' = e.value -> 'event' ->> 'id'
          where e.value -> 'event' ->> 'type' = 'tool_call' group by 1) c
        left join sessions s on s.parent ->> 'message_id' = m.id::text and s.parent ->> 'call_id' = c.id
        left join messages a on a.session_id = s.id and a.role = 'assistant' and a.finish_reason = 'stop'
       group by m.id, m.status, c.id, c.result`
    expect(calls.filter(({ n }) => n > 1)).toEqual([])
    // A child may have been deleted behind its end.
    const told = calls.filter(({ n, result }) => n === 1 && result?.startsWith('answer of'))
    expect(told.filter(({ content, result }) => content !== result)).toEqual([])
    const orphans = await sql`
      select s.id from sessions s where s.parent is not null
         and not exists (select 1 from sessions p where p.id::text = s.parent ->> 'session_id')`
    expect(orphans).toHaveLength(0)
    expect(await sql`select 1 from sessions where id = any(${deleted}::uuid[])`).toHaveLength(0)
    const twice = await sql`
      select session_id from messages where role = 'assistant' and continues is null and session_id in (select session_id from children)
       group by 1 having count(*) > 1`
    expect(twice).toHaveLength(0)
    const joined = await sql<{ content: string; answer: string }[]>`
      select w.content, a.content as answer from waiting_calls w
        join children c on c.parent_reply = w.reply_id and c.place = w.place
        join messages a on a.session_id = c.session_id and a.role = 'assistant' and a.finish_reason = 'stop'
       where w.kind = 'child' and w.ok`
    expect(joined.filter(({ content, answer }) => content !== answer)).toEqual([])
    expect(joined.length).toBeGreaterThan(0)
    console.log({
      decided,
      joined: joined.length,
      cancelled,
      deleted: deleted.length,
      trees: trees.length,
      ends,
      calls: calls.length,
      told: told.length,
      longest,
    })
    expect(told.length).toBeGreaterThan(0)
  },
)
