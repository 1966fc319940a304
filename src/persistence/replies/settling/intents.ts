/** Requests to the owner of a running reply, stored as rows that outlive every process. */
import type { Intent, ToCancel } from '../../../actors/ports/index.ts'
import type { Sql } from '../../postgres/database.ts'

/**
 * Stores a request to cancel what is meant of this session: a reply, or a compaction. Null when it does not run. What runs is
 * read before, and named: a request that arrives late cancels nothing that has begun since. The message is locked: an
 * instance that takes the reply over either finds the request, which goes along, or has become the owner before, whom it
 * then names.
 */
export async function requestCancel(
  sql: Sql,
  sessionId: string,
  { only, but }: ToCancel,
): Promise<{ replyId: string; instanceId: string } | null> {
  const meant = only ?? (await runningIn(sql, sessionId, but ?? null))
  if (meant === null) return null
  const [asked] = await sql<{ replyId: string; instanceId: string }[]>`
    with running as materialized (
      select m.instance_id, m.session_id, m.id from messages m
       where m.id = ${meant} and m.session_id = ${sessionId} and m.status = 'streaming' and m.id is distinct from ${but ?? null}
         for share
    )
    insert into intents (instance_id, kind, session_id, reply_id)
    select r.instance_id, 'cancel', r.session_id, r.id from running r
     union all
    select (s.compaction ->> 'instance_id')::uuid, 'cancel', s.id, (s.compaction ->> 'id')::uuid from sessions s
     where s.id = ${sessionId} and s.compaction ->> 'id' = ${meant}::text and is_compacting(s.compaction)
    returning reply_id as "replyId", instance_id as "instanceId"`
  return asked ?? null
}

/** Returns the id of the reply or compaction that runs in a session. */
async function runningIn(sql: Sql, sessionId: string, but: string | null): Promise<string | null> {
  const [running] = await sql<{ id: string }[]>`
    select m.id from messages m
     where m.session_id = ${sessionId} and m.status = 'streaming' and m.id is distinct from ${but}
     union all
    select (s.compaction ->> 'id')::uuid from sessions s
     where s.id = ${sessionId} and s.compaction is not null and is_compacting(s.compaction)`
  return running?.id ?? null
}

/** A stored intent; see `removeIntents`. */
export interface StoredIntent extends Intent {
  id: string
}

/** Reads the intents of an instance, oldest first. */
export async function readIntents(sql: Sql, instanceId: string): Promise<StoredIntent[]> {
  return await sql<StoredIntent[]>`
    select id::text as id, kind, session_id as "sessionId", reply_id as "replyId" from intents
     where instance_id = ${instanceId} order by id`
}

/**
 * Removes what was applied. The cancel of a reply stays until that has ended: its owner may have given the reply away by now, or
 * be gone before it has settled it, and whoever takes it over then finds the cancel (take_over_reply).
 */
export async function removeIntents(sql: Sql, intents: readonly Pick<StoredIntent, 'id'>[]): Promise<void> {
  await sql`
    delete from intents i
     where i.id = any(${intents.map(({ id }) => id)}::text[]::bigint[])
       and not (i.kind = 'cancel'
                and exists (select 1 from messages m where m.id = i.reply_id and m.status = 'streaming'))`
}
