/** Replays, as they are created, listed and ended (contract section 28). */
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime, type Page, type PageQuery } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export interface Replay {
  id: string
  agentId: string
  version: number | 'draft'
  status: 'running' | 'complete' | 'cancelled'
  concurrency: number
  counts: Record<
    'total' | 'pending' | 'running' | 'complete' | 'diverged' | 'error' | 'cancelled' | 'better' | 'same' | 'worse',
    number
  >
  usage: { promptTokens: number; completionTokens: number }
  /** Null where a model has no price. */
  cost: number | null
  /** ISO 8601 UTC. */
  createdAt: string
  createdBy: string | null
  endedAt: string | null
}

const counted = (sql: AnySql, status: string): Fragment => sql`count(*) filter (where c.status = ${status})`

const columns = (sql: AnySql): Fragment => sql`
  r.id, r.agent_id as "agentId", case when r.version = 'draft' then to_json(r.version) else to_json(r.version::integer) end as version,
  r.status, r.concurrency, ${isoTime(sql, 'r.created_at')} as "createdAt", r.created_by as "createdBy",
  ${isoTime(sql, 'r.ended_at')} as "endedAt", k.counts, k.usage, k.cost`

const sums = (sql: AnySql): Fragment => sql`
  cross join lateral (
    select json_build_object(
             'total', count(*), 'pending', ${counted(sql, 'pending')}, 'running', ${counted(sql, 'running')},
             'complete', ${counted(sql, 'complete')}, 'diverged', ${counted(sql, 'diverged')},
             'error', ${counted(sql, 'error')}, 'cancelled', ${counted(sql, 'cancelled')},
             'better', count(*) filter (where c.verdict = 'better'), 'same', count(*) filter (where c.verdict = 'same'),
             'worse', count(*) filter (where c.verdict = 'worse')) as counts,
           json_build_object(
             'promptTokens', coalesce(sum((c.new #>> '{usage,promptTokens}')::bigint), 0),
             'completionTokens', coalesce(sum((c.new #>> '{usage,completionTokens}')::bigint), 0)) as usage,
           case when coalesce(bool_and(c.new is null or c.new ->> 'cost' is not null), true)
                then coalesce(sum((c.new ->> 'cost')::float8), 0) end as cost
      from replay_cases c where c.replay_id = r.id) k`

export async function listReplays(sql: Sql, agentId: string, { limit, offset }: PageQuery): Promise<Page<Replay>> {
  const items = await sql<Replay[]>`
    select ${columns(sql)} from replays r ${sums(sql)} where r.agent_id = ${agentId}
     order by r.num desc limit ${limit} offset ${offset}`
  const [row] = await sql<
    { total: number }[]
  >`select count(*)::integer as total from replays where agent_id = ${agentId}`
  return { items: [...items], total: row?.total ?? 0 }
}

export async function findReplay(sql: AnySql, agentId: string, id: string): Promise<Replay | null> {
  if (!isUuid(id)) return null
  const [replay] = await sql<Replay[]>`
    select ${columns(sql)} from replays r ${sums(sql)} where r.id = ${id} and r.agent_id = ${agentId}`
  return replay ?? null
}

export interface NewReplay {
  agentId: string
  version: number | 'draft'
  /** The content of the version. */
  held: object
  concurrency: number
  createdBy: string | null
  /** The replies, in order. */
  replies: readonly string[]
}

/** Creates a replay. Rejects with the constraint `replays_running` while another one of the agent runs. */
export async function createReplay(tx: Tx, given: NewReplay): Promise<Replay> {
  const { agentId, version, held, concurrency, createdBy, replies } = given
  const [row] = await tx<{ id: string }[]>`
    insert into replays (agent_id, version, held, concurrency, created_by)
    values (${agentId}, ${`${version}`}, ${JSON.stringify(held)}::text::json, ${concurrency}, ${createdBy}) returning id`
  const id = row?.id ?? ''
  await tx`
    insert into replay_cases (replay_id, message_id, session_id, place, question)
    select ${id}, m.id, m.session_id, w.place, left(q.content, 20000)
      from unnest(${[...replies]}::uuid[]) with ordinality as w (id, place)
      join messages m on m.id = w.id
     cross join lateral ${questionOf(tx)} q`
  const found = await findReplay(tx, agentId, id)
  if (found === null) throw new Error('The new replay was not returned.')
  return found
}

/** Selects the question that the reply `m` answers, through the decisions before it, and its first reply. */
export const questionOf = (sql: AnySql): Fragment => sql`(
  with recursive chain as (
    select m.id, m.continues, m.position, m.parent, m.created_at
    union all
    select b.id, b.continues, b.position, b.parent, b.created_at from chain c join messages b on b.id = c.continues
  )
  select u.id, u.content, coalesce(u.parent, u.position - 1) as before, c.created_at
    from chain c join messages u on u.session_id = m.session_id and u.position = coalesce(c.parent, c.position - 1)
   where c.continues is null)`

/** Cancels a replay: what had not ended is cancelled. */
export async function cancelReplay(sql: Sql, id: string): Promise<void> {
  await sql`
    with ended as (
      update replays set status = 'cancelled', ended_at = clock_timestamp() where id = ${id} and status = 'running' returning id)
    update replay_cases c set status = 'cancelled' from ended e
     where c.replay_id = e.id and c.status in ('pending', 'running')`
}

export const removeReplay = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx`delete from replays where id = ${id}`).count > 0

/** Removes replays that are 30 days old. */
export const forgetReplays = (sql: Sql) =>
  sql`delete from replays where created_at < clock_timestamp() - interval '30 days' and status <> 'running'`

export interface ReplySelection {
  feedback?: 'up' | 'down' | 'any' | undefined
  since?: Date | undefined
  limit: number
}

/** Finds the newest replies of an agent that match: those that have ended and that no other one continues. */
export async function selectReplies(
  sql: Sql,
  agentId: string,
  { feedback, since, limit }: ReplySelection,
): Promise<string[]> {
  const scores = feedback === undefined ? null : { up: [1], down: [-1], any: [1, -1] }[feedback]
  const rated = scores
    ? sql`and exists (select from feedback f where f.message_id = m.id and f.score = any (${scores}::integer[]))`
    : sql``
  const rows = await sql<{ id: string }[]>`
    select m.id from sessions s join messages m on m.session_id = s.id
     where s.agent_id = ${agentId} and m.role = 'assistant' and m.first_seq is not null and m.status <> 'streaming'
       and (${since ?? null}::timestamptz is null or m.created_at >= ${since ?? null})
       and not exists (select from messages b where b.session_id = s.id and b.continues = m.id) ${rated}
     order by m.created_at desc, m.id desc limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Returns the state of each of these replies: null where it is none of the agent's own. */
export async function repliesOf(
  sql: Sql,
  agentId: string,
  ids: readonly string[],
): Promise<Map<string, 'ended' | 'running'>> {
  const rows = await sql<{ id: string; running: boolean }[]>`
    select m.id, m.status = 'streaming' as running from messages m join sessions s on s.id = m.session_id
     where m.id = any (${[...ids]}::uuid[]) and s.agent_id = ${agentId} and m.role = 'assistant' and m.first_seq is not null`
  return new Map(rows.map(({ id, running }) => [id, running ? 'running' : 'ended']))
}
