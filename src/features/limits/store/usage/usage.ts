/** Token usage: a row for each reply that has ended, written by its settlement (`fold_reply`) or here. */
import type { CountsFor } from '../../../../actors/ports/limits.ts'
import type { Usage } from '../../../../actors/reply/reply-event.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'

/** The usage of a reply, a title or a summary that is stored nowhere else. */
export interface Used {
  /** The reply's. */
  id: string
  agentId: string
  model: string
  /** The version of the agent: its number, or `draft`. Absent or null when none is known. */
  version?: number | 'draft' | null | undefined
  /** Whether it was a replay's. */
  isReplay?: true
  /** 0 for a title, and for a summary. */
  replies: 0 | 1
  endedAt: Date
  /** True if it failed. Absent means it did not. */
  failed?: boolean
  usage: Usage
  /** The subjects of limits. When absent, the usage counts for nobody's limits. */
  countsFor?: CountsFor | undefined
}

/** `key`: id of an agent, a model's name, a day as `2026-01-31`, UTC, or a version: its number, `draft` or `none`. */
export interface UsageRow {
  key: string
  replies: number
  promptTokens: number
  completionTokens: number
  totalTokens: number
  cachedTokens: number
  cacheWriteTokens: number
  reasoningTokens: number
  estimated: boolean
  /** The number of `replies` that were a replay's. */
  replays: number
  /** Feedback that was given in that time, and still exists. */
  feedbackUp: number
  feedbackDown: number
}

export interface UsageQuery {
  from: Date
  /** Not included. */
  to: Date
  groupBy: 'agent' | 'model' | 'day' | 'version'
  /** The agent whose versions are meant. Absent for the other groupings. */
  agentId?: string | undefined
}

/** Returns usage: days in order; agents and models by tokens, the most first. */
export async function readUsage(sql: Sql, { from, to, groupBy, agentId }: UsageQuery): Promise<UsageRow[]> {
  const key = {
    agent: sql`agent_id::text`,
    model: sql`model`,
    day: sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD')`,
    version: sql`coalesce(version, 'none')`,
  }[groupBy]
  // float8, like JavaScript's numbers: sums of bigint would be returned as text.
  const rows = await sql<UsageRow[]>`
    select ${key} as key, sum(replies)::float8 as replies, sum(prompt_tokens)::float8 as "promptTokens",
           sum(completion_tokens)::float8 as "completionTokens",
           sum(prompt_tokens + completion_tokens)::float8 as "totalTokens", sum(cached_tokens)::float8 as "cachedTokens",
           sum(cache_write_tokens)::float8 as "cacheWriteTokens", sum(reasoning_tokens)::float8 as "reasoningTokens",
           bool_or(estimated) as estimated, sum(up)::float8 as "feedbackUp", sum(down)::float8 as "feedbackDown",
           sum(replays)::float8 as replays
      from (select at, agent_id, model, version, replies, prompt_tokens, completion_tokens, cached_tokens,
                   cache_write_tokens, reasoning_tokens, estimated, 0 as up, 0 as down, replays
              from token_usage where folded in (false, true) and at >= ${from} and at < ${to}
            union all
            select created_at, agent_id, model, version, 0, 0, 0, 0, 0, 0, false,
                   case when score > 0 then 1 else 0 end, case when score < 0 then 1 else 0 end, 0
              from feedback where created_at >= ${from} and created_at < ${to}) u
     where ${agentId ?? null}::uuid is null or agent_id = ${agentId ?? null}
     group by 1 order by ${groupBy === 'day' ? sql`1` : sql`5 desc, 1`}`
  return [...rows]
}

/**
 * Stores what is not there yet, by its id. What counts for limits is counted with it, and stateless replies give back their
 * places among the concurrent ones.
 */
export async function insertUsage(sql: Sql, used: readonly Used[]): Promise<void> {
  const rows = sql`
    unnest(${used.map((one) => one.id)}::uuid[],
           ${used.map((one) => one.endedAt.toISOString())}::text[]::timestamptz[],
           ${used.map((one) => one.agentId)}::uuid[], ${used.map((one) => one.model)}::text[],
           ${used.map((one) => one.replies)}::integer[],
           ${used.map((one) => one.usage.promptTokens)}::bigint[],
           ${used.map((one) => one.usage.completionTokens)}::bigint[],
           -- The library takes an array of booleans for one boolean.
           ${used.map((one) => String(one.usage.estimated))}::text[]::boolean[],
           ${used.map((one) => (one.failed ? 1 : 0))}::integer[],
           ${used.map((one) => one.usage.cachedTokens ?? 0)}::bigint[],
           ${used.map((one) => one.usage.cacheWriteTokens ?? 0)}::bigint[],
           ${used.map((one) => one.usage.reasoningTokens ?? 0)}::bigint[],
           ${used.map((one) => (one.version == null ? null : `${one.version}`))}::text[],
           ${used.map((one) => (one.isReplay ? 1 : 0))}::integer[])
      as u (id, at, agent, model, replies, prompt, completion, estimated, failures, cached, written, reasoning, version, replays)`
  const insert = sql`
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, failures,
                             cached_tokens, cache_write_tokens, reasoning_tokens, version, replays)
    select u.id, u.at, u.agent, u.model, u.replies, u.prompt, u.completion, u.estimated, u.failures, u.cached, u.written,
           u.reasoning, u.version, u.replays
      from ${rows}
    on conflict do nothing`
  const subjects = used.flatMap((one) => subjectsOf(one).map((subject) => ({ id: one.id, subject })))
  if (used.every(({ countsFor }) => countsFor === undefined)) {
    await insert
    return
  }
  await sql`
    with stored as (${insert} returning id, at, model, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens),
    given_back as (
      delete from limit_places where reply_id = any(${used.map(({ id }) => id)}::uuid[]) and instance_id is not null)
    insert into limit_usage (subject, day, tokens, cost)
    select s.subject, (u.at at time zone 'UTC')::date, u.prompt_tokens + u.completion_tokens,
           cost_of(u.model, u.prompt_tokens, u.completion_tokens, u.cached_tokens, u.cache_write_tokens)
      from stored u
      join unnest(${subjects.map(({ id }) => id)}::uuid[], ${subjects.map(({ subject }) => subject)}::text[])
             as s (id, subject) on s.id = u.id`
}

/** Returns the names of subjects as limit_subjects writes them. */
const subjectsOf = ({ agentId, countsFor }: Used): string[] =>
  [countsFor?.key ?? null, countsFor?.user == null ? null : `${agentId} ${countsFor.user}`].filter(
    (subject) => subject !== null,
  )

/** Merges rows older than a week into one for each hour, agent, model and version. Idempotent; any instance may run it. */
export async function foldUsage(sql: Sql): Promise<void> {
  await sql`
    with old as (
      delete from token_usage
       where not folded and at < date_trunc('hour', clock_timestamp() - interval '7 days') returning *
    )
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, failures, folded,
                             cached_tokens, cache_write_tokens, reasoning_tokens, version, replays)
    select gen_random_uuid(), date_trunc('hour', at, 'UTC'), agent_id, model, sum(replies), sum(prompt_tokens),
           sum(completion_tokens), estimated, sum(failures), true, sum(cached_tokens), sum(cache_write_tokens),
           sum(reasoning_tokens), version, sum(replays)
      from old
     group by date_trunc('hour', at, 'UTC'), agent_id, model, estimated, version, replays > 0`
}
