/**
 * Sessions that need a title: they have none, or a draft, and their first reply has ended. A claim is a timestamp, not a lock: a
 * model is called meanwhile, and no transaction may stay open for so long.
 */
import type { CountsFor } from '../../../actors/ports/limits.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'

export interface UntitledSession {
  id: string
  agentId: string
  /** The number of this claim, from 1. Claims of processes that died count too. */
  attempt: number
  /** First user message and first reply, truncated. */
  question: string
  answer: string
  /** The names that the use of its first reply counts for. Null when it counts for nobody. */
  countsFor: CountsFor | null
}

export interface Claim {
  /** The time the session is reserved, by the database's clock. */
  claimMs: number
  /** Most characters (code points) of each message. */
  maxText: number
}

/** Claims the next session that needs a title. Null when none is due. */
export async function claimUntitled(sql: Sql, { claimMs, maxText }: Claim): Promise<UntitledSession | null> {
  const [session] = await sql<UntitledSession[]>`
    with next as materialized (
      -- Skipped, not waited for: who holds the row is at work on the session, or claims it itself.
      select id from sessions
       where (title is null or title_is_draft) and next_seq > 1
         and title_due_at < 'infinity' and title_due_at <= statement_timestamp()
       order by title_due_at, num limit 1 for update skip locked
    ), claimed as (
      update sessions s
         set title_due_at = clock_timestamp() + ${`${claimMs} milliseconds`}::interval,
             title_attempts = s.title_attempts + 1
        from next where s.id = next.id
      returning s.id, s.agent_id, s.end_user, s.title_attempts
    )
    select c.id, c.agent_id as "agentId", c.title_attempts as attempt,
           coalesce(left(asked.content, ${maxText}), '') as question,
           coalesce(left(answered.content, ${maxText}), '') as answer,
           case when answered.counts is not null then jsonb_build_object(
             'key', answered.counts -> 'key', 'user', case when answered.counts ? 'user' then c.end_user end)
           end as "countsFor"
      from claimed c
      left join lateral (
        select m.position, m.content from messages m where m.session_id = c.id and m.role = 'user'
         order by m.position limit 1
      ) asked on true
      left join lateral (
        select m.content, m.facts -> 'counts' as counts from messages m
         where m.session_id = c.id and m.role = 'assistant' and m.position > asked.position order by m.position limit 1
      ) answered on true`
  return session ?? null
}

/**
 * Stores a title. A title that was given meanwhile stays, and so does the session's position in lists. Null: the
 * session keeps its draft, or has no title.
 */
export async function storeTitle(sql: Sql, sessionId: string, title: string | null): Promise<void> {
  await sql`
    update sessions set title = coalesce(${title}, title), title_is_draft = false, title_due_at = 'infinity'
     where id = ${sessionId} and (title is null or title_is_draft)`
}

/** Allows another attempt after `ms`, because this one failed. */
export async function postponeTitle(sql: Sql, sessionId: string, ms: number): Promise<void> {
  await sql`
    update sessions set title_due_at = clock_timestamp() + ${`${ms} milliseconds`}::interval
     where id = ${sessionId} and (title is null or title_is_draft)`
}

/**
 * Releases a session whose attempt was aborted here. The attempt does not count, and any instance may claim the
 * session.
 */
export async function releaseTitle(sql: Sql, sessionId: string): Promise<void> {
  await sql`
    update sessions set title_due_at = '-infinity', title_attempts = title_attempts - 1
     where id = ${sessionId} and (title is null or title_is_draft)`
}
