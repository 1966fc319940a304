/** Sign-ins at MCP servers: the calls that wait for them, and those that browsers are on their way with. */
import { randomUUID } from 'node:crypto'
import type { CallPlace } from '../../../actors/reply/call-key.ts'
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { requestStateContext, type Secrets } from '../../../persistence/records/access/secrets.ts'
import { type Begun, readBegun } from '../oauth.ts'

type Sealing = Pick<Secrets, 'seal' | 'open'>

/** The call that a sign-in is for. */
export interface SignInPlace extends CallPlace {
  sessionId: string
  user: string
  serverId: string
}

/** A call that waits for a sign-in. */
export interface WaitingSignIn {
  agentId: string
  agentName: string
  serverName: string
  url: string
  oauthClientId: string | null
  sealedClientSecret: string | null
  callId: string
  /** The reply that ended to wait. */
  waitId: string
  /** JSON text. Null: nothing is kept of it. */
  state: string | null
  /** Whether the user has signed in since the call began to wait. */
  isGranted: boolean
}

/** Finds a call that still waits for its sign-in. */
export async function findWaiting(sql: AnySql, secrets: Sealing, call: SignInPlace): Promise<WaitingSignIn | null> {
  const { sessionId, user, serverId, replyId, place } = call
  const [row] = await sql<(Omit<WaitingSignIn, 'state'> & { sealed: string | null })[]>`
    select s.agent_id as "agentId", a.name as "agentName", m.name as "serverName", m.url, p.call_id as "callId",
           m.oauth_client_id as "oauthClientId", m.oauth_client_secret as "sealedClientSecret",
           w.reply_id as "waitId", p.asked_state as sealed,
           exists (select from mcp_connections c
                    where c.agent_id = s.agent_id and c.end_user = s.end_user and c.mcp_server_id = m.id
                      and c.created_at > p.asked_at) as "isGranted"
      from sessions s
      join agents a on a.id = s.agent_id
      join waits w on w.session_id = s.id
      join pending_calls(s.id) p on p.reply_id = ${replyId} and p.place = ${place}
      join waiting_questions q on q.reply_id = p.reply_id and q.place = p.place and q.sign_in and q.decision is null
      join mcp_servers m on m.id = ${serverId} and m.auth = 'user'
     where s.id = ${sessionId} and s.status = 'waiting' and s.end_user = ${user}`
  if (row === undefined) return null
  const { sealed, ...waiting } = row
  return { ...waiting, state: sealed === null ? null : secrets.open(sealed, requestStateContext) }
}

const contextOf = (id: string): string => `mcp-sign-in:${id}`

interface Hashes {
  stateHash: Buffer
  browserHash: Buffer
}

/** Stores a sign-in that a browser is sent away with. */
export async function storeSignIn(
  sql: Sql,
  secrets: Sealing,
  { stateHash, browserHash }: Hashes,
  { sessionId, user, serverId, replyId, place, begun }: SignInPlace & { begun: Begun },
): Promise<void> {
  await sql`delete from mcp_sign_ins where expires_at < clock_timestamp() - interval '1 hour'`
  const id = randomUUID()
  const sealed = secrets.seal(JSON.stringify(begun), contextOf(id))
  await sql`
    insert into mcp_sign_ins (id, state_hash, browser_hash, session_id, mcp_server_id, reply_id, place, end_user, sealed)
    values (${id}, ${stateHash}, ${browserHash}, ${sessionId}, ${serverId}, ${replyId}, ${place}, ${user}, ${sealed})`
}

/** Takes the sign-in of a state, which is used up by that. Null: none is, or it is over, or another browser's. */
export async function takeSignIn(
  sql: Sql,
  secrets: Sealing,
  { stateHash, browserHash }: Hashes,
): Promise<(SignInPlace & { begun: Begun }) | null> {
  const [row] = await sql<(SignInPlace & { id: string; sealed: string; isGood: boolean })[]>`
    delete from mcp_sign_ins where state_hash = ${stateHash}
    returning id, sealed, session_id as "sessionId", mcp_server_id as "serverId", reply_id as "replyId", place,
              end_user as "user", expires_at > clock_timestamp() and browser_hash = ${browserHash} as "isGood"`
  if (row === undefined || !row.isGood) return null
  const { id, sealed, isGood: _, ...call } = row
  return { ...call, begun: readBegun(JSON.parse(secrets.open(sealed, contextOf(id)))) }
}

/** Decides that the user of a call has signed in. Returns the id of the reply that has begun here, if one has. */
export async function decideSignedIn(
  tx: Tx,
  { id, epoch }: { id: string | null; epoch: bigint | number | string | null },
  { sessionId, user }: SignInPlace,
  { waitId, callId }: WaitingSignIn,
): Promise<string | null> {
  const decisions = [{ id: callId, key: 'sign_in', decision: 'signed_in' }]
  await tx`select decide_pending(${sessionId}, ${waitId}, ${JSON.stringify(decisions)}::text::jsonb, ${user})`
  const [row] = await tx<{ id: string | null }[]>`
    select follow_decided(${id}, ${epoch}, ${sessionId}, ${user}) as id`
  return row?.id ?? null
}

/** The newest messages of a session among which the calls of a sign-in are looked for. */
const NEWEST = 100

/** Returns the part of a statement that holds the calls with these ids whose users have signed in, of a session and of those below it. */
const signedIn = (sql: Sql, sessionId: string, user: string | null, callIds: readonly string[]) => sql`
  signed as (
    select w.call_id, w.reply_id, w.place, w.session_id, w.decided_in
      from sessions s join waiting_calls w on w.session_id = s.id or w.session_id = any(sessions_below(array[s.id]))
     where s.id = ${sessionId} and (${user}::text is null or s.end_user = ${user})
       and w.call_id = any (${[...callIds]}) and w.decision = 'signed_in'
  )`

/**
 * Returns the id of the reply that began with sign-ins for all of these calls, or that followed those in sessions below. Null:
 * no single one did, or the session is another user's.
 */
export async function replyAfterSignIns(
  sql: Sql,
  { sessionId, user }: { sessionId: string; user: string | null },
  callIds: readonly string[],
): Promise<string | null> {
  const [row] = await sql<{ id: string | null }[]>`
    with recursive ${signedIn(sql, sessionId, user, callIds)}, up as (
      select s.* from signed s
      union
      select u.call_id, w.reply_id, w.place, w.session_id, w.decided_in
        from up u join children k on k.session_id = u.session_id and u.session_id <> ${sessionId}
        join waiting_calls w on w.reply_id = k.parent_reply and w.place = k.place
    )
    select u.decided_in as id from up u
     where u.session_id = ${sessionId}
       and u.reply_id in (select m.id from messages m where m.session_id = ${sessionId} order by m.position desc limit ${NEWEST})
     group by u.decided_in having count(distinct u.call_id) = ${new Set(callIds).size} limit 1`
  return row?.id ?? null
}

/** Returns those of these calls, of sessions below a waiting one, whose users have signed in. */
export async function signedInBelow(sql: Sql, sessionId: string, callIds: readonly string[]): Promise<string[]> {
  const rows = await sql<
    { id: string }[]
  >`with ${signedIn(sql, sessionId, null, callIds)} select call_id as id from signed`
  return rows.map(({ id }) => id)
}
