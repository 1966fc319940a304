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
  /** 0 for a title, and for a summary. */
  replies: 0 | 1
  endedAt: Date
  /** True if it failed. Absent means it did not. */
  failed?: boolean
  usage: Usage
  /** The subjects of limits. When absent, the usage counts for nobody's limits. */
  countsFor?: CountsFor | undefined
}

/** `key`: id of an agent, a model's name, or a day as `2026-01-31`, UTC. */
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
}

export interface UsageQuery {
  from: Date
  /** Not included. */
  to: Date
  groupBy: 'agent' | 'model' | 'day'
}

/** Returns usage: days in order; agents and models by tokens, the most first. */
export async function readUsage(sql: Sql, { from, to, groupBy }: UsageQuery): Promise<UsageRow[]> {
  const key = {
    agent: sql`agent_id::text`,
    model: sql`model`,
    day: sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD')`,
  }[groupBy]
  // float8, like JavaScript's numbers: sums of bigint would be returned as text.
  const rows = await sql<UsageRow[]>`
    select ${key} as key, sum(replies)::float8 as replies, sum(prompt_tokens)::float8 as "promptTokens",
           sum(completion_tokens)::float8 as "completionTokens",
           sum(prompt_tokens + completion_tokens)::float8 as "totalTokens", sum(cached_tokens)::float8 as "cachedTokens",
           sum(cache_write_tokens)::float8 as "cacheWriteTokens", sum(reasoning_tokens)::float8 as "reasoningTokens",
           bool_or(estimated) as estimated
      from token_usage where folded in (false, true) and at >= ${from} and at < ${to}
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
           ${used.map((one) => one.usage.reasoningTokens ?? 0)}::bigint[])
      as u (id, at, agent, model, replies, prompt, completion, estimated, failures, cached, written, reasoning)`
  const insert = sql`
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, failures,
                             cached_tokens, cache_write_tokens, reasoning_tokens)
    select u.id, u.at, u.agent, u.model, u.replies, u.prompt, u.completion, u.estimated, u.failures, u.cached, u.written,
           u.reasoning
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

/** Merges rows older than a week into one for each hour, agent and model. Idempotent; any instance may run it. */
export async function foldUsage(sql: Sql): Promise<void> {
  await sql`
    with old as (
      delete from token_usage
       where not folded and at < date_trunc('hour', clock_timestamp() - interval '7 days') returning *
    )
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, failures, folded,
                             cached_tokens, cache_write_tokens, reasoning_tokens)
    select gen_random_uuid(), date_trunc('hour', at, 'UTC'), agent_id, model, sum(replies), sum(prompt_tokens),
           sum(completion_tokens), estimated, sum(failures), true, sum(cached_tokens), sum(cache_write_tokens),
           sum(reasoning_tokens)
      from old group by date_trunc('hour', at, 'UTC'), agent_id, model, estimated`
}
