/** The readers of sessions, once an hour (contract section 33). */
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import { type AuditOrigin, writeEntries } from './audit.ts'

interface ReadSession {
  id: string
  title: string | null
}

/** Sessions that are read: by their ids, or by those of their messages; only those of this agent, where one is named. */
export interface ReadSessions {
  sessionIds?: readonly string[]
  messageIds?: readonly string[]
  agentId?: string | undefined
}

/**
 * Writes an entry for each of these sessions that has a user and that the reader has not read in this hour of the UTC
 * clock, over all instances.
 */
export async function noteSessionReads(
  sql: Sql,
  { reader, origin }: { reader: string; origin: AuditOrigin },
  { sessionIds = [], messageIds = [], agentId }: ReadSessions,
): Promise<void> {
  await sql.begin(async (tx) => {
    const read = await tx<ReadSession[]>`
      with noted as (
        insert into session_reads (reader, session_id, hour)
        select ${reader}, s.id, date_trunc('hour', clock_timestamp(), 'UTC') from sessions s
         where s.id = any (${[...sessionIds]}::uuid[] || array(
                 select m.session_id from messages m where m.id = any (${[...messageIds]}::uuid[])))
           and s.end_user is not null and (${agentId ?? null}::uuid is null or s.agent_id = ${agentId ?? null}::uuid)
        on conflict do nothing returning session_id
      )
      select s.id, s.title from sessions s join noted n on n.session_id = s.id order by s.num`
    await writeEntries(
      tx,
      origin,
      read.map(({ id, title }) => ({ action: 'read', kind: 'session', recordId: id, recordName: title, changes: {} })),
    )
  })
}

/** Removes the titles of a user's sessions from the entries of their readers: titles are the user's words. */
export async function forgetTitlesRead(sql: AnySql, agentId: string, user: string): Promise<void> {
  await sql`
    update audit_entries set record_name = null
     where action = 'read' and record_name is not null and record_id = any (array(
       select id::text from sessions where agent_id = ${agentId} and end_user = ${user}
       union all
       select session_id::text from session_deletions
        where agent_id = ${agentId} and user_hash = sha256(convert_to(${user}::text, 'UTF8'))))`
}

/** Removes what is needed no more: the hours that are over. */
export async function tidySessionReads(sql: AnySql): Promise<void> {
  await sql`delete from session_reads where hour < date_trunc('hour', clock_timestamp(), 'UTC')`
}
