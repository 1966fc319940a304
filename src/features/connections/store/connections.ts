/** Connections of users to MCP servers, as rows (contract section 27). What was granted is encrypted. */
import { randomUUID } from 'node:crypto'
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import { type Granted, readGranted } from '../oauth.ts'

type Sealing = Pick<Secrets, 'seal' | 'open'>

export interface StoredGrant {
  id: string
  granted: Granted
  /** Whether the token is over, or nearly. */
  isOver: boolean
}

interface Row {
  id: string
  sealed: string
  isOver: boolean
}

/** Seconds before its end at which a token counts as over. */
const MARGIN_S = 30

const contextOf = (id: string): string => `mcp-connection:${id}`

const opened = (secrets: Sealing, { id, sealed, isOver }: Row): StoredGrant => ({
  id,
  granted: readGranted(JSON.parse(secrets.open(sealed, contextOf(id)))),
  isOver,
})

const columns = (sql: AnySql) => sql`
  c.id, c.sealed, coalesce(c.expires_at < clock_timestamp() + make_interval(secs => ${MARGIN_S}), false) as "isOver"`

/** Finds what the user of a session has granted to a server. */
export async function findGrant(
  sql: Sql,
  secrets: Sealing,
  { sessionId, serverId }: { sessionId: string; serverId: string },
): Promise<StoredGrant | null> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from sessions s
      join mcp_connections c on c.agent_id = s.agent_id and c.end_user = s.end_user and c.mcp_server_id = ${serverId}
     where s.id = ${sessionId}`
  return row === undefined ? null : opened(secrets, row)
}

/** Seconds for which a renewal has a grant to itself: longer than an authorization server has for its answer. */
const RENEWAL_S = 15

/** A grant that is being renewed. `renewal`: names who does it. */
export interface ClaimedGrant extends StoredGrant {
  renewal: string
  /** The address of its server. */
  url: string
}

/** Claims a grant, so that one renews it and the others wait. Null: another one does, or it is gone. */
export async function claimGrant(sql: Sql, secrets: Sealing, id: string): Promise<ClaimedGrant | null> {
  const renewal = randomUUID()
  const [row] = await sql<(Row & { url: string })[]>`
    update mcp_connections c
       set renewal = ${renewal}, renewal_ends = clock_timestamp() + make_interval(secs => ${RENEWAL_S})
      from mcp_servers m
     where c.id = ${id} and m.id = c.mcp_server_id and (c.renewal_ends is null or c.renewal_ends <= clock_timestamp())
    returning ${columns(sql)}, m.url`
  return row === undefined ? null : { ...opened(secrets, row), renewal, url: row.url }
}

/** Reads a grant. Null: it is gone. */
export async function readGrant(sql: Sql, secrets: Sealing, id: string): Promise<StoredGrant | null> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from mcp_connections c where c.id = ${id}`
  return row === undefined ? null : opened(secrets, row)
}

/** Lets others renew a grant. */
export async function releaseGrant(sql: Sql, { id, renewal }: ClaimedGrant): Promise<void> {
  await sql`update mcp_connections set renewal = null, renewal_ends = null where id = ${id} and renewal = ${renewal}`
}

const endOf = (sql: AnySql, { expiresIn }: Granted) => sql`clock_timestamp() + make_interval(secs => ${expiresIn})`

/** Stores what a renewal brought. False: the grant is no longer claimed by it. */
export async function updateGrant(
  sql: Sql,
  secrets: Sealing,
  { id, renewal }: ClaimedGrant,
  granted: Granted,
): Promise<boolean> {
  const sealed = secrets.seal(JSON.stringify(granted), contextOf(id))
  const { count } = await sql`
    update mcp_connections
       set sealed = ${sealed}, scope = ${granted.scope}, expires_at = ${endOf(sql, granted)}, renewal = null, renewal_ends = null
     where id = ${id} and renewal = ${renewal}`
  return count > 0
}

export interface ConnectionOf {
  agentId: string
  user: string
  serverId: string
}

/** Stores what a user has granted, in place of what was granted before. Returns the connection's id. */
export async function storeGrant(
  tx: Tx,
  secrets: Sealing,
  { agentId, user, serverId }: ConnectionOf,
  granted: Granted,
): Promise<string> {
  await tx`delete from mcp_connections where agent_id = ${agentId} and end_user = ${user} and mcp_server_id = ${serverId}`
  const id = randomUUID()
  const sealed = secrets.seal(JSON.stringify(granted), contextOf(id))
  await tx`
    insert into mcp_connections (id, agent_id, end_user, mcp_server_id, sealed, scope, expires_at)
    values (${id}, ${agentId}, ${user}, ${serverId}, ${sealed}, ${granted.scope}, ${endOf(tx, granted)})`
  return id
}

export interface UserConnection {
  mcp_server_id: string
  server: string
  scope: string | null
  created_at: string
}

/** Lists the servers that a user has signed in at, oldest first. */
export const userConnections = async (
  sql: AnySql,
  { agentId, user }: { agentId: string; user: string },
): Promise<UserConnection[]> => [
  ...(await sql<UserConnection[]>`
    select c.mcp_server_id, m.name as server, c.scope, ${isoTime(sql, 'c.created_at')} as created_at
      from mcp_connections c join mcp_servers m on m.id = c.mcp_server_id
     where c.agent_id = ${agentId} and c.end_user = ${user} order by c.created_at, c.id`),
]

export interface McpConnection {
  id: string
  mcpServerId: string
  server: string
  agentId: string
  agentName: string
  user: string
  scope: string | null
  createdAt: string
  /** Null: the token names no end. */
  expiresAt: string | null
}

/** The filters of a list. Null: any. */
export interface ConnectionFilters {
  serverId: string | null
  agentId: string | null
  user: string | null
}

/** Lists connections, oldest first. */
export async function listConnections(
  sql: Sql,
  { serverId, agentId, user }: ConnectionFilters,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: McpConnection[]; total: number }> {
  if ([serverId, agentId].some((id) => id !== null && !isUuid(id))) return { items: [], total: 0 }
  const meant = sql`
    (${serverId}::uuid is null or c.mcp_server_id = ${serverId}::uuid)
    and (${agentId}::uuid is null or c.agent_id = ${agentId}::uuid)
    and (${user}::text is null or c.end_user = ${user})`
  const items = await sql<McpConnection[]>`
    select c.id, c.mcp_server_id as "mcpServerId", m.name as server, c.agent_id as "agentId", a.name as "agentName",
           c.end_user as "user", c.scope, ${isoTime(sql, 'c.created_at')} as "createdAt",
           ${isoTime(sql, 'c.expires_at')} as "expiresAt"
      from mcp_connections c join mcp_servers m on m.id = c.mcp_server_id join agents a on a.id = c.agent_id
     where ${meant} order by c.created_at, c.id limit ${limit} offset ${offset}`
  const [row] = await sql<{ total: number }[]>`select count(*)::integer as total from mcp_connections c where ${meant}`
  return { items: [...items], total: row?.total ?? 0 }
}

function connectionMeant(tx: Tx, meant: Parameters<typeof deleteConnection>[1]): Fragment {
  if ('renewal' in meant) return tx`c.renewal = ${meant.renewal}`
  const ofServer = tx`c.mcp_server_id = ${meant.serverId}`
  if ('id' in meant) return tx`c.id = ${meant.id} and ${ofServer}`
  return tx`c.agent_id = ${meant.agentId} and c.end_user = ${meant.user} and ${ofServer}`
}

/** Removes a connection. Returns its server's name and its user. Null: there is none. */
export async function deleteConnection(
  tx: Tx,
  meant: { id: string; serverId: string } | ConnectionOf | Pick<ClaimedGrant, 'renewal'>,
): Promise<{ id: string; server: string; user: string } | null> {
  const [row] = await tx<{ id: string; server: string; user: string }[]>`
    delete from mcp_connections c using mcp_servers m
     where ${connectionMeant(tx, meant)} and m.id = c.mcp_server_id
    returning c.id, m.name as server, c.end_user as "user"`
  return row ?? null
}

/** Removes all that a user has granted with an agent, and the sign-ins that are under way. */
export async function deleteUserConnections(sql: AnySql, agentId: string, user: string): Promise<void> {
  await sql`
    delete from mcp_sign_ins i using sessions s where s.id = i.session_id and s.agent_id = ${agentId} and i.end_user = ${user}`
  await sql`delete from mcp_connections where agent_id = ${agentId} and end_user = ${user}`
}
