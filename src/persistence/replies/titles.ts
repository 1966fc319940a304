/**
 * Sessions that want a title: none was given, and the first reply has ended. A claim is a mark with an end, not a
 * lock: a model is asked meanwhile, and no transaction may stay open for so long.
 */
import type { Sql } from '../postgres/database.ts'

export interface UntitledSession {
  id: string
  agentId: string
  /** Which claim this is, from 1. Those of claimers that died count too. */
  attempt: number
  /** First user message and first reply, cut. */
  question: string
  answer: string
}

export interface Claim {
  /** So long nobody else gets the session; by the database's clock. */
  claimMs: number
  /** Characters (code points) of each message that are wanted. */
  maxText: number
}

/** The next session that wants a title, now claimed. Null: none is due. */
export async function claimUntitled(sql: Sql, { claimMs, maxText }: Claim): Promise<UntitledSession | null> {
  const [session] = await sql<UntitledSession[]>`
    with next as materialized (
      -- Skipped, not waited for: who holds the row is at work on the session, or claims it itself.
      select id from sessions
       where title is null and next_seq > 1 and title_due_at < 'infinity' and title_due_at <= statement_timestamp()
       order by title_due_at, num limit 1 for update skip locked
    ), claimed as (
      update sessions s
         set title_due_at = clock_timestamp() + ${`${claimMs} milliseconds`}::interval,
             title_attempts = s.title_attempts + 1
        from next where s.id = next.id
      returning s.id, s.agent_id, s.title_attempts
    )
    select c.id, c.agent_id as "agentId", c.title_attempts as attempt,
           coalesce(left(asked.content, ${maxText}), '') as question,
           coalesce(left(answered.content, ${maxText}), '') as answer
      from claimed c
      left join messages asked on asked.session_id = c.id and asked.position = 0
      left join messages answered on answered.session_id = c.id and answered.position = 1`
  return session ?? null
}

/** A title that came meanwhile stays, and so does the session's place in lists. Null: it will never get one. */
export async function storeTitle(sql: Sql, sessionId: string, title: string | null): Promise<void> {
  await sql`
    update sessions set title = ${title}, title_due_at = 'infinity' where id = ${sessionId} and title is null`
}

/** The attempt failed: another one may be made after `ms`. */
export async function postponeTitle(sql: Sql, sessionId: string, ms: number): Promise<void> {
  await sql`
    update sessions set title_due_at = clock_timestamp() + ${`${ms} milliseconds`}::interval
     where id = ${sessionId} and title is null`
}

/** The attempt was broken off by us: it does not count, and anyone may go on. */
export async function releaseTitle(sql: Sql, sessionId: string): Promise<void> {
  await sql`
    update sessions set title_due_at = '-infinity', title_attempts = title_attempts - 1
     where id = ${sessionId} and title is null`
}
