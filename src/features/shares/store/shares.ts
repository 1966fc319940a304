/** Shares of sessions (contract section 31). Only a token's SHA-256 is stored. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export type ShareInclude = 'tools' | 'reasoning'

export interface Share {
  id: string
  live: boolean
  include: ShareInclude[]
  /** Unix seconds. Null when it does not expire. */
  expiresAt: number | null
  createdAt: string
}

/** A share as a token opens it. */
export interface OpenedShare extends Pick<Share, 'id' | 'live' | 'include'> {
  agentId: string
  sessionId: string
  isExpired: boolean
}

export type NewShare = Pick<Share, 'live' | 'include' | 'expiresAt'>

/** Most shares of one session. */
export const MOST_SHARES = 50

const FORM = /^sh_[A-Za-z0-9_-]{43}$/

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

const columns = (sql: AnySql): Fragment => sql`
  id, live, include, extract(epoch from expires_at)::bigint::integer as "expiresAt", ${isoTime(sql, 'created_at')} as "createdAt"`

/** Names a session by its ids, as they came. */
export interface SessionPlace {
  agent_id: string
  session_id: string
}

/** Returns whether client secrets may share sessions of the agent. */
export async function allowsSharing(sql: AnySql, agentId: string): Promise<boolean> {
  if (!isUuid(agentId)) return false
  const [row] = await sql<{ allowed: boolean }[]>`select allow_sharing as allowed from agents where id = ${agentId}`
  return row?.allowed ?? false
}

/**
 * Makes a share, and its token, which is read here alone. The session is locked before: what is admitted later lies behind the
 * share in time.
 */
export async function createShare(
  tx: Tx,
  { agent_id, session_id }: SessionPlace,
  { live, include, expiresAt }: NewShare,
): Promise<(Share & { token: string; sessionId: string }) | 'no session' | 'full'> {
  if (!isUuid(agent_id) || !isUuid(session_id)) return 'no session'
  const [session] = await tx<{ id: string }[]>`
    select id from sessions where id = ${session_id} and agent_id = ${agent_id} for update`
  if (session === undefined) return 'no session'
  const token = `sh_${randomBytes(32).toString('base64url')}`
  const [share] = await tx<Share[]>`
    insert into shares (id, session_id, hash, live, include, lines, expires_at, created_at)
    select ${randomUUID()}, s.id, decode(${hashOf(token)}, 'hex'), ${live}, ${include}::text[],
           case when not ${live} then lines_to(s.id, coalesce(s.head,
             (select m.position from messages m where m.session_id = s.id order by m.position desc limit 1))) end,
           to_timestamp(${expiresAt}::bigint), clock_timestamp()
      from sessions s
     where s.id = ${session.id} and (select count(*) from shares o where o.session_id = s.id) < ${MOST_SHARES}
    returning ${columns(tx)}`
  return share === undefined ? 'full' : { ...share, token, sessionId: session.id }
}

/** Lists the shares of a session, newest first. Null when there is no such session. */
export async function listShares(sql: Sql, { agent_id, session_id }: SessionPlace): Promise<Share[] | null> {
  if (!isUuid(agent_id) || !isUuid(session_id)) return null
  const [session] = await sql`select 1 from sessions where id = ${session_id} and agent_id = ${agent_id}`
  if (session === undefined) return null
  return [
    ...(await sql<Share[]>`select ${columns(sql)} from shares where session_id = ${session_id} order by num desc`),
  ]
}

/** Deletes a share. False when the session has none of this id. */
export async function deleteShare(tx: Tx, { agent_id, session_id }: SessionPlace, id: string): Promise<boolean> {
  if (![agent_id, session_id, id].every(isUuid)) return false
  const { count } = await tx`
    delete from shares h using sessions s
     where h.id = ${id} and s.id = h.session_id and s.id = ${session_id} and s.agent_id = ${agent_id}`
  return count > 0
}

/** Ends all shares of the sessions of a user with an agent. */
export async function endSharesOf(tx: Tx, agentId: string, user: string): Promise<void> {
  await tx`
    delete from shares h using sessions s
     where s.id = h.session_id and s.agent_id = ${agentId} and s.end_user = ${user}`
}

/** Finds the share that a token opens, also one that has expired. Null when there is none. */
export async function findShare(sql: Sql, token: string): Promise<OpenedShare | null> {
  if (!FORM.test(token)) return null
  const [share] = await sql<OpenedShare[]>`
    select h.id, h.live, h.include, s.agent_id as "agentId", h.session_id as "sessionId",
           coalesce(h.expires_at <= clock_timestamp(), false) as "isExpired"
      from shares h join sessions s on s.id = h.session_id where h.hash = decode(${hashOf(token)}, 'hex')`
  return share ?? null
}

/** A share whose answers are still being sent. */
export interface WatchedShare {
  id: string
  sessionId: string
}

/**
 * Returns those that are over: revoked, or expired. One whose session is gone is none of them, since its stream ends with the
 * session.
 */
export async function sharesOver(
  sql: Sql,
  watched: readonly WatchedShare[],
): Promise<{ id: string; isExpired: boolean }[]> {
  return await sql<{ id: string; isExpired: boolean }[]>`
    select w.id, h.id is not null as "isExpired"
      from jsonb_to_recordset(${JSON.stringify(watched)}::text::jsonb) as w(id uuid, "sessionId" uuid)
      join sessions s on s.id = w."sessionId"
      left join shares h on h.id = w.id
     where h.id is null or h.expires_at <= clock_timestamp()`
}

/** Rejects with the SQLSTATE `SECRET_REVOKED` where the secret was revoked meanwhile. */
export async function checkSecret(tx: Tx, secret: { agentId: string; user: string; number: number }): Promise<void> {
  await tx`select check_client_secret(${secret.agentId}, ${secret.user}, ${secret.number})`
}

/** The SQLSTATE that check_client_secret.sql raises. */
export const SECRET_REVOKED = 'GR401'
