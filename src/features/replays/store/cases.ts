/** The cases of replays: rows that any instance takes, runs and ends. */
import type { Usage } from '../../../actors/reply/reply-event.ts'
import type { Sql, Tx } from '../../../persistence/postgres/database.ts'
import type { Page, PageQuery } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Owner } from '../../../persistence/replies/admission/admission-answer.ts'
import { questionOf } from './replays.ts'

/** The reply as it was, or as it is under the version of the replay. */
export interface CaseReply {
  version: number | 'draft' | null
  model: string | null
  content: string
  toolCalls: { name: string; arguments: string }[]
  finishReason: string | null
  usage: { promptTokens: number; completionTokens: number } | null
  /** Null where the model has no price. */
  cost: number | null
  durationMs: number | null
}

export interface Divergence {
  name: string
  arguments: string
  /** The number of calls that had been answered before. */
  position: number
}

export interface ReplayCase {
  messageId: string
  sessionId: string
  status: 'pending' | 'running' | 'complete' | 'diverged' | 'error' | 'cancelled'
  question: string
  old: CaseReply | null
  new: CaseReply | null
  divergence: Divergence | null
  error: { code: string; message: string } | null
  verdict: 'better' | 'same' | 'worse' | null
  comment: string | null
}

const columns = (sql: Sql | Tx) => sql`
  c.message_id as "messageId", c.session_id as "sessionId", c.status, c.question, c.old, c.new, c.divergence, c.error,
  c.verdict, c.comment`

export async function listCases(sql: Sql, replayId: string, { limit, offset }: PageQuery): Promise<Page<ReplayCase>> {
  const items = await sql<ReplayCase[]>`
    select ${columns(sql)} from replay_cases c where c.replay_id = ${replayId} order by c.place limit ${limit} offset ${offset}`
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total from replay_cases where replay_id = ${replayId}`
  return { items: [...items], total: row?.total ?? 0 }
}

/** Replaces verdict and comment. Null when there is no such case. */
export async function judgeCase(
  sql: Sql,
  { replayId, messageId }: { replayId: string; messageId: string },
  { verdict, comment }: Pick<ReplayCase, 'verdict' | 'comment'>,
): Promise<ReplayCase | null> {
  if (!isUuid(messageId)) return null
  const [found] = await sql<ReplayCase[]>`
    update replay_cases c set verdict = ${verdict}, comment = ${comment}
     where c.replay_id = ${replayId} and c.message_id = ${messageId} returning ${columns(sql)}`
  return found ?? null
}

/** A case that this instance runs. */
export interface TakenCase {
  replayId: string
  messageId: string
  sessionId: string
  agentId: string
  version: number | 'draft'
  held: object
  questionId: string
  text: string
  /** Position of the message before the question. Negative: there is none. */
  historyEnd: number
  user: string | null
  /** The metadata that counted at that time. */
  metadata: Record<string, string>
  /** The time of the first reply's admission. */
  at: Date
  /** The number of instances that lost it: what one run of it writes does nothing once another has begun. */
  losses: number
}

/** A run of a case. */
export type CaseRun = Pick<TakenCase, 'replayId' | 'messageId' | 'losses'>

export const keyOf = ({ replayId, messageId, losses }: CaseRun): string => `${replayId} ${messageId} ${losses}`

export interface CaseEnd {
  status: 'complete' | 'diverged' | 'error'
  old: CaseReply | null
  new: CaseReply | null
  divergence: Divergence | null
  error: ReplayCase['error']
}

/** The losses after which a case is given up. */
const MOST_LOSSES = 3

const runsIn = (sql: Sql, runs: readonly CaseRun[]) => sql`
  unnest(${runs.map(({ replayId }) => replayId)}::uuid[], ${runs.map(({ messageId }) => messageId)}::uuid[],
         ${runs.map(({ losses }) => losses)}::integer[]) as w (replay_id, message_id, losses)`

const isRun = (sql: Sql) => sql`c.replay_id = w.replay_id and c.message_id = w.message_id and c.losses = w.losses`

/** Returns JSON that PostgreSQL can read fields of: it has no U+0000. */
const jsonOrNull = (value: object | null): string | null =>
  value &&
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '\ufffd') : part,
  )

export const createCases = (sql: Sql, owner: () => Owner) => ({
  /**
   * Takes the cases of lost instances back, and those of this one that it does not run: it never learned that they were its
   * own, or could not store their end. Ends replays of which none is left. `running`: the cases that run here.
   */
  async tend(running: readonly CaseRun[]): Promise<void> {
    const { id, epoch } = owner()
    // `seen`: as the statement saw it. One that another instance has taken since belongs to an instance that it may not see.
    await sql`
      with lost as (
        select c.replay_id, c.message_id
          from replay_cases c
          join replay_cases seen on seen.replay_id = c.replay_id and seen.message_id = c.message_id
           and seen.instance_id = c.instance_id and seen.epoch = c.epoch and seen.losses = c.losses
         where c.status = 'running' and c.replay_id in (select id from replays where status = 'running')
           and (not exists (select from instances i where i.id = c.instance_id and i.epoch = c.epoch and i.lost_at is null)
                or c.instance_id = ${id} and c.epoch = ${epoch}
                   and not exists (select from ${runsIn(sql, running)} where ${isRun(sql)}))
           for update of c skip locked)
      update replay_cases c
         set losses = c.losses + 1, instance_id = null, epoch = null,
             status = case when c.losses + 1 >= ${MOST_LOSSES} then 'error' else 'pending' end,
             error = case when c.losses + 1 >= ${MOST_LOSSES}
                          then json_build_object('code', 'instance_lost', 'message', 'The instance that ran it was lost three times.') end
        from lost l where c.replay_id = l.replay_id and c.message_id = l.message_id`
    await sql`
      update replays r set status = 'complete', ended_at = clock_timestamp()
       where r.status = 'running'
         and not exists (select from replay_cases c where c.replay_id = r.id and c.status in ('pending', 'running'))`
  },
  /** Takes the next case. Null when there is none. */
  async take(): Promise<TakenCase | null> {
    const { id, epoch } = owner()
    return await sql.begin(async (tx) => {
      const [next] = await tx<{ id: string }[]>`
        select r.id from replays r
         where r.status = 'running'
           and exists (select from replay_cases c where c.replay_id = r.id and c.status = 'pending')
           and (select count(*) from replay_cases c where c.replay_id = r.id and c.status = 'running') < r.concurrency
         order by r.num limit 1 for update skip locked`
      if (next === undefined) return null
      // A statement of its own sees what others did before the lock was taken. What is not pending any more is nobody's to take.
      const [taken] = await tx<TakenCase[]>`
        with one as (
          update replay_cases c set status = 'running', instance_id = ${id}, epoch = ${epoch}
            from replays r
           where r.id = ${next.id} and c.replay_id = r.id and c.status = 'pending'
             and c.message_id = (
               select x.message_id from replay_cases x where x.replay_id = r.id and x.status = 'pending' order by x.place limit 1)
             and (select count(*) from replay_cases x where x.replay_id = r.id and x.status = 'running') < r.concurrency
          returning c.replay_id, c.message_id, c.session_id, c.losses, r.agent_id, r.version, r.held)
        select o.replay_id as "replayId", o.message_id as "messageId", o.session_id as "sessionId", o.agent_id as "agentId", o.losses,
               case when o.version = 'draft' then to_json(o.version) else to_json(o.version::integer) end as version, o.held,
               q.id as "questionId", q.content as text, q.before as "historyEnd", s.end_user as "user",
               coalesce((select v.metadata from session_values v where v.session_id = s.id and v.until > q.created_at
                          order by v.until limit 1), s.metadata - s.uncounted) as metadata, q.created_at as at
          from one o join messages m on m.id = o.message_id join sessions s on s.id = o.session_id
         cross join lateral ${questionOf(tx)} q`
      return taken ?? null
    })
  },
  /** Returns which of these are still this instance's to run. */
  async stillOwn(cases: readonly CaseRun[]): Promise<Set<string>> {
    const { id, epoch } = owner()
    const rows = await sql<CaseRun[]>`
      select c.replay_id as "replayId", c.message_id as "messageId", c.losses
        from ${runsIn(sql, cases)} join replay_cases c on ${isRun(sql)}
       where c.status = 'running' and c.instance_id = ${id} and c.epoch = ${epoch}`
    return new Set(rows.map(keyOf))
  },
  /** Ends a case, if it is still this instance's. */
  async end({ replayId, messageId, losses }: CaseRun, end: CaseEnd): Promise<void> {
    const { id, epoch } = owner()
    await sql`
      update replay_cases
         set status = ${end.status}, old = ${jsonOrNull(end.old)}::text::json, new = ${jsonOrNull(end.new)}::text::json,
             divergence = ${jsonOrNull(end.divergence)}::text::json, error = ${jsonOrNull(end.error)}::text::json
       where replay_id = ${replayId} and message_id = ${messageId} and status = 'running'
         and instance_id = ${id} and epoch = ${epoch} and losses = ${losses}`
  },
  /** Gives a case back, for another instance to begin it anew. */
  async giveBack({ replayId, messageId, losses }: CaseRun): Promise<void> {
    const { id, epoch } = owner()
    await sql`
      update replay_cases set status = 'pending', instance_id = null, epoch = null
       where replay_id = ${replayId} and message_id = ${messageId} and status = 'running'
         and instance_id = ${id} and epoch = ${epoch} and losses = ${losses}`
  },
})

export type Cases = ReturnType<typeof createCases>

/** Returns what these tokens cost. Null where the model has no price. */
export async function costOf(sql: Sql, model: string, usage: Usage): Promise<number | null> {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  const [row] = await sql<{ cost: number | null }[]>`
    select case when exists (
             select from ui_settings s, jsonb_to_recordset(s.value -> 'prices') as p (model text)
              where s.name = 'prices' and p.model = ${model})
           then cost_of(${model}, ${promptTokens}, ${completionTokens}, ${cachedTokens}, ${cacheWriteTokens})::float8 end as cost`
  return row?.cost ?? null
}
