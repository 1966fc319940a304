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

/** The newest messages of each session among which the calls of sign-ins are looked for. */
const NEWEST = 100

/**
 * Returns the calls of a session, and of those that answer its calls, whose users have signed in, each with the id of the
 * session's reply that began with that. Null: that reply waits for other decisions. Calls that are pending by now, and those
 * of another user, are left out.
 */
export async function repliesAfterSignIns(
  sql: Sql,
  { sessionId, user }: { sessionId: string; user: string | null },
  callIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (callIds.length === 0) return new Map()
  const rows = await sql<{ id: string; replyId: string | null }[]>`
    with recursive signed_in as (
      select w.call_id, w.session_id, w.decided_in, w.asked_at
        from sessions s
       cross join lateral unnest(array[s.id] || sessions_below(array[s.id])) as t (id)
       cross join lateral (select m.id from messages m where m.session_id = t.id order by m.position desc limit ${NEWEST}) m
        join waiting_calls w on w.reply_id = m.id and w.call_id = any (${[...callIds]}) and w.decision = 'signed_in'
       where s.id = ${sessionId} and (${user}::text is null or s.end_user = ${user})
      union all
      select i.call_id, w.session_id, w.decided_in, i.asked_at
        from signed_in i
        join children k on k.session_id = i.session_id
        join waiting_calls w on w.reply_id = k.parent_reply and w.place = k.place
       where i.session_id <> ${sessionId}
    )
    select i.call_id as id, coalesce(i.decided_in, q.reply_id) as "replyId"
      from signed_in i
      left join queued_messages q on q.session_id = i.session_id and q.rank < 0 and q.admission is null
     where i.session_id = ${sessionId}
       and not exists (select from pending_entries(${sessionId}) p where p.call_id = i.call_id)
     order by i.asked_at`
  return new Map(rows.map(({ id, replyId }) => [id, replyId]))
}
