/** The use of limits so far, by a key or by a user of an agent, for display. */
import type { AnySql } from '../../../persistence/postgres/database.ts'
import type { Fragment, Page } from '../../../persistence/postgres/page.ts'

export interface LimitUse {
  /** Requests of the last 60 s, where a limit counts them. */
  requestsLastMinute: number
  /** Replies that run, where a limit counts them. */
  runningReplies: number
  tokensToday: number
  costThisMonth: number
}

const use = (sql: AnySql, subject: Fragment): Fragment => sql`
  (select count(*)::integer from limit_requests q
    where q.subject = ${subject} and q.at > clock_timestamp() - interval '1 minute') as "requestsLastMinute",
  (select count(*)::integer from limit_places p where p.subject = ${subject} and holds_place(p)) as "runningReplies",
  (select coalesce(sum(u.tokens), 0)::float8 from limit_usage u
    where u.subject = ${subject} and u.day = (clock_timestamp() at time zone 'UTC')::date) as "tokensToday",
  (select coalesce(sum(u.cost), 0)::float8 from limit_usage u
    where u.subject = ${subject} and u.day >= date_trunc('month', clock_timestamp() at time zone 'UTC')) as "costThisMonth"`

export async function useOfKey(sql: AnySql, keyId: string): Promise<LimitUse> {
  const [row] = await sql<LimitUse[]>`select ${use(sql, sql`${keyId}::text`)}`
  if (row === undefined) throw new Error('The use was not returned.')
  return row
}

export interface UserUse extends LimitUse {
  user: string
}

/**
 * Returns the agent's users that count for limits this month, those with the most tokens today first. `user`: this one
 * alone.
 */
export async function useOfUsers(
  sql: AnySql,
  agentId: string,
  { user, limit, offset }: { user: string | null; limit: number; offset: number },
): Promise<Page<UserUse>> {
  const prefix = `${agentId.toLowerCase()} `
  const found = sql`
    select s.subject from (
      select u.subject from limit_usage u where u.day >= date_trunc('month', clock_timestamp() at time zone 'UTC')
       union select q.subject from limit_requests q where q.at > clock_timestamp() - interval '1 minute'
       union select p.subject from limit_places p where holds_place(p)) s
     where ${user === null ? sql`starts_with(s.subject, ${prefix})` : sql`s.subject = ${prefix + user}`}`
  const [page] = await sql<Page<UserUse>[]>`
    with subjects as materialized (${found}),
    page as (
      select substr(s.subject, ${prefix.length + 1}) as "user", ${use(sql, sql`s.subject`)}
        from subjects s order by "tokensToday" desc, 1 limit ${limit} offset ${offset}
    )
    select (select count(*)::integer from subjects) as total,
           coalesce((select jsonb_agg(to_jsonb(page) order by page."tokensToday" desc, page."user") from page), '[]') as items`
  return page ?? { items: [], total: 0 }
}
