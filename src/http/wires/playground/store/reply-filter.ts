/** Filters of sessions by the text of their messages and the making of their newest reply. */
import type { AnySql, Sql } from '../../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../../persistence/postgres/page.ts'

/** Conditions that must all match. */
export interface ReplyFilter {
  /** The provider of the newest reply. */
  providerId?: string | undefined
  /** The HTTP status with which that provider refused the newest reply. */
  httpStatus?: number | undefined
  /** Text within a stored message, ignoring case. The text of a running reply is not searched. */
  text?: string | undefined
}

/** Returns a condition on rows of `newest`, whose `id` is a session's id. */
export function repliesMatch(sql: AnySql, { providerId, httpStatus, text }: ReplyFilter): Fragment {
  const ofReply =
    providerId === undefined && httpStatus === undefined
      ? sql``
      : sql`and exists (
          select from (select r.id, r.facts, r.tool_events from messages r
                        where r.session_id = newest.id and r.role = 'assistant' order by r.position desc limit 1) r
           where true
             ${providerId === undefined ? sql`` : sql`and ${providerOf(sql)} = ${providerId}`}
             ${httpStatus === undefined ? sql`` : sql`and (r.facts ->> 'providerStatus')::integer = ${httpStatus}`})`
  const ofText =
    text === undefined
      ? sql``
      : sql`and exists (select from messages m where m.session_id = newest.id and ${holds(sql, 'm.content', text)})`
  return sql`true ${ofReply} ${ofText}`
}

/** Returns the provider of the model that the reply `r` called last, as `messageOf` reads it from a message. */
const providerOf = (sql: AnySql): Fragment => sql`
  coalesce((select e.stored -> 'event' ->> 'providerId'
              from jsonb_array_elements(r.tool_events) with ordinality as e (stored, place)
             where e.stored -> 'event' ->> 'type' = 'model' order by e.place desc limit 1), r.facts ->> 'providerId')`

export interface NewestReply {
  sessionId: string
  /** The provider that answered. Null when it is unknown. */
  providerId: string | null
  model: string | null
  /** The HTTP status of the provider's refusal. Null without a refusal, or when the status is unknown. */
  httpStatus: number | null
  /** The duration of the reply. Null while the reply runs, and for replies that were copied or given by a caller. */
  durationMs: number | null
  tokens: number | null
}

/** Returns the newest reply of each session that has one. */
export const newestReplies = async (sql: Sql, sessionIds: readonly string[]): Promise<NewestReply[]> =>
  await sql<NewestReply[]>`
    select s.id as "sessionId", ${providerOf(sql)} as "providerId", r.model,
           (r.facts ->> 'providerStatus')::integer as "httpStatus", (r.facts ->> 'durationMs')::integer as "durationMs",
           r.prompt_tokens + r.completion_tokens as tokens
      from sessions s,
           lateral (select m.facts, m.tool_events, m.model, m.prompt_tokens, m.completion_tokens from messages m
                     where m.session_id = s.id and m.role = 'assistant' order by m.position desc limit 1) r
     where s.id = any(${[...sessionIds]}::uuid[])`

/**
 * Returns the condition that a text contains a part, ignoring case. It uses `like`: PostgreSQL expects few matching
 * rows and reads with several processes, but expects a third of the rows for `strpos`. Letters beyond ASCII take twice
 * the time to fold: 1 s instead of 0.5 s for a million titles on a busy machine.
 */
export function holds(sql: AnySql, column: 'title' | 'm.content', part: string): Fragment {
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return /^[\x00-\x7f]*$/.test(part)
    ? sql`lower(${sql(column)} collate "C") like ${pattern.toLowerCase()}`
    : sql`lower(${sql(column)}) like lower(${pattern}::text)`
}
