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
}

/** A server as callers read it: secret headers as `***`. Times are ISO 8601 UTC. */
export interface McpServer extends McpServerFields {
  id: string
  headers: Record<string, string>
  createdAt: string
  updatedAt: string
}

/** The data that a connection needs; secret headers are encrypted. `version` changes with every update. */
export type StoredMcpServer = McpServerFields & StoredHeaders & { id: string; version: string }

export type NewMcpServer = McpServerFields & StoredHeaders & { id: string }

/** Absent fields keep their value. */
export type McpServerChanges = { [Field in keyof McpServerFields]?: McpServerFields[Field] | undefined } & {
  sealedHeaders?: StoredHeaders | undefined
}

const columns = (sql: AnySql): Fragment =>
  sql`id, name, transport, url, headers, send_user as "sendUser", ${timestamps(sql)}`

const stored = (sql: AnySql): Fragment => sql`
  id, name, transport, url, headers, send_user as "sendUser", secret_headers as "secretHeaders",
  extract(epoch from updated_at)::text as version`

const table = recordTable<McpServer>('mcp_servers', columns)
export const { list: listMcpServers, find: findMcpServer } = table

/** Reads those servers that exist, in any order. Ids are UUIDs. */
export const storedMcpServers = async (sql: AnySql, ids: readonly string[]): Promise<StoredMcpServer[]> =>
  ids.length === 0
    ? []
    : [...(await sql<StoredMcpServer[]>`select ${stored(sql)} from mcp_servers where id = any (${[...ids]}::uuid[])`)]

export function createMcpServer(sql: AnySql, server: NewMcpServer): Promise<McpServer> {
  const { id, name, transport, url, sendUser, headers, secretHeaders } = server
  return table.insert(
    sql,
    sql`(id, name, transport, url, send_user, headers, secret_headers)
    values (${id}, ${name}, ${transport}, ${url}, ${sendUser}, ${JSON.stringify(headers)}::text::json, ${secretHeaders})`,
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
  const { name, transport, url, sendUser, sealedHeaders } = decide(server)
  const { headers, secretHeaders } = sealedHeaders ?? server
  return await table.update(
    tx,
    id,
    tx`
      name = ${name ?? server.name}, transport = ${transport ?? server.transport}, url = ${url ?? server.url},
      send_user = ${sendUser ?? server.sendUser},
      headers = ${JSON.stringify(headers)}::text::json, secret_headers = ${secretHeaders}`,
  )
}

/** A removal, which also takes the server from every agent. */
export const deleteMcpServer = table.remove

/** Reports whether there is a server. */
export async function hasMcpServers(sql: AnySql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from mcp_servers) as found`
  return row?.found ?? false
}
