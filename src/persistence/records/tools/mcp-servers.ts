/** MCP servers: address and transport. Their tools are not stored; the servers are asked for them. */
import type { AnySql, Tx } from '../../postgres/database.ts'
import { type Fragment, timestamps } from '../../postgres/page.ts'
import { recordTable } from '../../record-table.ts'
import type { StoredHeaders } from './secret-headers.ts'

export interface McpServerFields {
  name: string
  transport: 'sse' | 'streamable_http'
  url: string
  /** Whether calls tell it the session and its user. */
  sendUser: boolean
  /** `user`: each user signs in. */
  auth: 'none' | 'user'
  oauthClientId: string | null
}

/** A server as callers read it: secret headers as `***`. Times are ISO 8601 UTC. */
export interface McpServer extends McpServerFields {
  id: string
  headers: Record<string, string>
  /** `***` where there is one. */
  oauthClientSecret: string | null
  createdAt: string
  updatedAt: string
}

/** The data that a connection needs; secret headers are encrypted. `version` changes with every update. */
export type StoredMcpServer = McpServerFields & StoredHeaders & StoredSecret & { id: string; version: string }

interface StoredSecret {
  /** Encrypted. Null: there is none. */
  sealedClientSecret: string | null
}

export type NewMcpServer = McpServerFields & StoredHeaders & StoredSecret & { id: string }

/** Absent fields keep their value. */
export type McpServerChanges = { [Field in keyof McpServerFields]?: McpServerFields[Field] | undefined } & {
  sealedHeaders?: StoredHeaders | undefined
  sealedClientSecret?: string | null | undefined
}

const columns = (sql: AnySql): Fragment =>
  sql`id, name, transport, url, headers, send_user as "sendUser", auth, oauth_client_id as "oauthClientId",
  case when oauth_client_secret is not null then '***' end as "oauthClientSecret", ${timestamps(sql)}`

const stored = (sql: AnySql): Fragment => sql`
  id, name, transport, url, headers, send_user as "sendUser", secret_headers as "secretHeaders", auth,
  oauth_client_id as "oauthClientId", oauth_client_secret as "sealedClientSecret",
  extract(epoch from updated_at)::text as version`

const table = recordTable<McpServer>('mcp_servers', columns)
export const { list: listMcpServers, find: findMcpServer } = table

/** Reads those servers that exist, in any order. Ids are UUIDs. */
export const storedMcpServers = async (sql: AnySql, ids: readonly string[]): Promise<StoredMcpServer[]> =>
  ids.length === 0
    ? []
    : [...(await sql<StoredMcpServer[]>`select ${stored(sql)} from mcp_servers where id = any (${[...ids]}::uuid[])`)]

export function createMcpServer(sql: AnySql, server: NewMcpServer): Promise<McpServer> {
  const { id, name, transport, url, sendUser, headers, secretHeaders, auth, oauthClientId, sealedClientSecret } = server
  return table.insert(
    sql,
    sql`(id, name, transport, url, send_user, headers, secret_headers, auth, oauth_client_id, oauth_client_secret)
    values (${id}, ${name}, ${transport}, ${url}, ${sendUser}, ${JSON.stringify(headers)}::text::json, ${secretHeaders},
            ${auth}, ${oauthClientId}, ${sealedClientSecret})`,
  )
}

export type DecideMcpServer = (server: StoredMcpServer) => McpServerChanges

/**
 * Changes a server. `decide` gets the stored server, locked until the changes are written. It may throw: then nothing
 * changes. Null when there is no such server.
 */
export async function changeMcpServer(tx: Tx, id: string, decide: DecideMcpServer): Promise<McpServer | null> {
  const [server] = await tx<StoredMcpServer[]>`select ${stored(tx)} from mcp_servers where id = ${id} for no key update`
  if (server === undefined) return null
  const { name, transport, url, sendUser, auth, oauthClientId, sealedHeaders, sealedClientSecret } = decide(server)
  const { headers, secretHeaders } = sealedHeaders ?? server
  const next = {
    url: url ?? server.url,
    auth: auth ?? server.auth,
    clientId: kept(oauthClientId, server.oauthClientId),
  }
  const isOther = next.url !== server.url || next.auth !== server.auth || next.clientId !== server.oauthClientId
  if (isOther) await forgetSignIns(tx, id)
  return await table.update(
    tx,
    id,
    tx`
      name = ${name ?? server.name}, transport = ${transport ?? server.transport}, url = ${next.url},
      send_user = ${sendUser ?? server.sendUser}, auth = ${next.auth}, oauth_client_id = ${next.clientId},
      oauth_client_secret = ${kept(sealedClientSecret, server.sealedClientSecret)},
      headers = ${JSON.stringify(headers)}::text::json, secret_headers = ${secretHeaders}`,
  )
}

const kept = (given: string | null | undefined, stored: string | null): string | null =>
  given === undefined ? stored : given

/** Removes what users have granted to a server that is another one now. */
async function forgetSignIns(tx: Tx, id: string): Promise<void> {
  await tx`delete from mcp_connections where mcp_server_id = ${id}`
  await tx`delete from mcp_clients where mcp_server_id = ${id}`
  await tx`delete from mcp_sign_ins where mcp_server_id = ${id}`
}

/** A removal, which also takes the server from every agent. */
export const deleteMcpServer = table.remove

/** Reports whether there is a server. */
export async function hasMcpServers(sql: AnySql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from mcp_servers) as found`
  return row?.found ?? false
}
