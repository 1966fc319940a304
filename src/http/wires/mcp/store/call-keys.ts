/** The idempotency keys of calls, as they are stored (contract section 30). */
import type { Sql } from '../../../../persistence/postgres/database.ts'

export interface KeyedReply {
  replyId: string
  sessionId: string
  user: string | null
}

/** Finds the replies of an agent that calls with this key have begun. The key is one of `callKey`. */
export async function repliesOfCall(sql: Sql, agentId: string, key: string): Promise<KeyedReply[]> {
  return await sql<KeyedReply[]>`
    select k.reply_id as "replyId", k.session_id as "sessionId", s.end_user as "user"
      from idempotency_keys k join sessions s on s.id = k.session_id
     where k.key = ${key} and k.key like 'mcp-%' and s.agent_id::text = ${agentId.toLowerCase()}`
}

/** Keeps another key for what a call with this key has begun: one of `callKey`, for a call that has a key of its own. */
export async function keepAlias(sql: Sql, sessionId: string, key: string, alias: string): Promise<void> {
  await sql`
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    select session_id, ${alias}, body_hash, reply_id from idempotency_keys where session_id = ${sessionId} and key = ${key}
    on conflict do nothing`
}

/** Returns whether the session holds the key: the call can only join what an earlier one has begun. */
export async function holdsKey(sql: Sql, sessionId: string, key: string): Promise<boolean> {
  const rows = await sql`
    select 1 from idempotency_keys
     where session_id = ${sessionId} and key = ${key} and created_at > clock_timestamp() - interval '24 hours'`
  return rows.length > 0
}
