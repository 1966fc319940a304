/** The usage and cost of replies, by agent, model or hour. */
import type { Sql } from '../../../../persistence/postgres/database.ts'
import type { UsageQuery } from './usage.ts'

interface Percentiles {
  p50: number | null
  p95: number | null
}

/** `key`: id of an agent, a model's name, or the start of an hour as `2026-01-31T10:00:00Z`. */
export interface UsageFiguresRow {
  key: string
  replies: number
  failures: number
  firstTokenMs: Percentiles
  durationMs: Percentiles
  /** Null when a model of it has no price. */
  cost: number | null
}

/**
 * Returns usage figures: hours in order; agents and models by replies, the most first. Times are of replies that are
 * not aggregated yet (foldUsage).
 */
export async function readUsageFigures(
  sql: Sql,
  { from, to, groupBy }: Omit<UsageQuery, 'groupBy'> & { groupBy: 'agent' | 'model' | 'hour' },
): Promise<UsageFiguresRow[]> {
  const key = {
    agent: sql`agent_id::text`,
    model: sql`u.model`,
    hour: sql`to_char(date_trunc('hour', at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:00:00"Z"')`,
  }[groupBy]
  const rows = await sql<UsageFiguresRow[]>`
    with price as (
      select p.model, p.prompt, p.completion, coalesce(p."cachedPrompt", p.prompt) as cached,
             coalesce(p."cacheWrite", p.prompt) as written
        from ui_settings s,
             jsonb_to_recordset(s.value -> 'prices')
               as p (model text, prompt float8, completion float8, "cachedPrompt" float8, "cacheWrite" float8)
       where s.name = 'prices'
    )
    select ${key} as key, sum(replies)::float8 as replies, sum(failures)::float8 as failures,
           jsonb_build_object('p50', percentile_cont(0.5) within group (order by first_token_ms),
                              'p95', percentile_cont(0.95) within group (order by first_token_ms)) as "firstTokenMs",
           jsonb_build_object('p50', percentile_cont(0.5) within group (order by duration_ms),
                              'p95', percentile_cont(0.95) within group (order by duration_ms)) as "durationMs",
           case when bool_and(price.model is not null)
                then sum((prompt_tokens - cached_tokens - cache_write_tokens) * price.prompt + cached_tokens * price.cached
                          + cache_write_tokens * price.written + completion_tokens * price.completion) / 1e6 end as cost
      from token_usage u left join price on price.model = u.model
     where folded in (false, true) and replays = 0 and at >= ${from} and at < ${to}
     group by 1 order by ${groupBy === 'hour' ? sql`1` : sql`2 desc, 1`}`
  return [...rows]
}
