/** Which tools an agent may call, and those tools ready for a reply. */
import type { AnySql, Sql, Tx } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import { isUuid } from '../../postgres/uuid.ts'
import type { Secrets } from '../access/secrets.ts'
import { type StoredHttpTool, storedHttpTools } from './http-tools.ts'
import { type StoredMcpServer, storedMcpServers } from './mcp-servers.ts'
import { type HeaderContext, openHeaders, type StoredHeaders } from './secret-headers.ts'

/** The tools in the order in which the model gets them. `toolNames` `["*"]`: every tool of the server. */
export interface ToolChoice {
  httpToolIds: string[]
  mcpServers: { mcpServerId: string; toolNames: string[] }[]
  builtInToolIds: string[]
  /** Names as models see them, whose calls need approval; `*` among them, or instead of them: all. */
  approvals: string[] | '*'
}

/** Undefined arrays keep their value. A kind of tools that is left out does not compile. */
export type ToolChoiceChanges = { [Field in keyof ToolChoice]: ToolChoice[Field] | undefined }

/** A choice refers to a tool that does not exist. */
export class UnknownTool extends Error {
  override readonly name = 'UnknownTool'
  readonly field: 'httpToolIds' | 'mcpServers'
  readonly id: string

  constructor(field: UnknownTool['field'], id: string) {
    super(`${field}: there is no ${id}`)
    this.field = field
    this.id = id
  }
}

/** The choice of the agent `a` as one JSON value. */
export const choiceOf = (sql: AnySql): Fragment => sql`
  jsonb_build_object(
    'httpToolIds', (select coalesce(jsonb_agg(t.http_tool_id order by t.place), '[]')
                      from agent_http_tools t where t.agent_id = a.id),
    'mcpServers', (select coalesce(jsonb_agg(jsonb_build_object(
                            'mcpServerId', s.mcp_server_id, 'toolNames', to_jsonb(s.tool_names)) order by s.place), '[]')
                     from agent_mcp_servers s where s.agent_id = a.id),
    'builtInToolIds', to_jsonb(a.built_in_tool_ids), 'approvals', a.approvals)`

/** Null when there is no such agent. */
export async function findAgentTools(sql: AnySql, agentId: string): Promise<ToolChoice | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<
    { choice: ToolChoice }[]
  >`select ${choiceOf(sql)} as choice from agents a where a.id = ${agentId}`
  return row?.choice ?? null
}

/** Normalized ids without duplicates. The tools of a server that is listed twice are merged. */
export function tidyChoice(changes: ToolChoiceChanges): ToolChoiceChanges {
  const { httpToolIds, mcpServers, builtInToolIds, approvals } = changes
  const named = mcpServers && Map.groupBy(mcpServers, ({ mcpServerId }) => mcpServerId.toLowerCase())
  return {
    httpToolIds: httpToolIds && [...new Set(httpToolIds.map((id) => id.toLowerCase()))],
    mcpServers:
      named &&
      Array.from(named, ([mcpServerId, all]) => {
        return { mcpServerId, toolNames: [...new Set(all.flatMap(({ toolNames }) => toolNames))] }
      }),
    builtInToolIds: builtInToolIds && [...new Set(builtInToolIds)],
    approvals: typeof approvals === 'object' ? [...new Set(approvals)] : approvals,
  }
}

/** Rejects with UnknownTool. In a transaction the tools cannot be deleted before its end. */
export async function requireTools(sql: AnySql, { httpToolIds, mcpServers }: ToolChoiceChanges): Promise<void> {
  await requireAll(sql, 'http_tools', 'httpToolIds', httpToolIds ?? [])
  const serverIds = (mcpServers ?? []).map(({ mcpServerId }) => mcpServerId)
  await requireAll(sql, 'mcp_servers', 'mcpServers', serverIds)
}

async function requireAll(sql: AnySql, table: string, field: UnknownTool['field'], ids: string[]): Promise<void> {
  const malformed = ids.find((id) => !isUuid(id))
  if (malformed !== undefined) throw new UnknownTool(field, malformed)
  if (ids.length === 0) return
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(table)} where id = any (${ids}::uuid[]) order by id for key share`
  const known = new Set(rows.map(({ id }) => id))
  const unknown = ids.find((id) => !known.has(id.toLowerCase()))
  if (unknown !== undefined) throw new UnknownTool(field, unknown)
}

/** Null when there is no such agent. Rejects with UnknownTool: then nothing changes. */
export async function updateAgentTools(
  sql: Sql,
  agentId: string,
  changes: ToolChoiceChanges,
): Promise<ToolChoice | null> {
  return isUuid(agentId) ? sql.begin((tx) => changeAgentTools(tx, agentId, changes)) : null
}

/** Like `updateAgentTools`, within a transaction. */
export async function changeAgentTools(
  tx: Tx,
  agentId: string,
  changes: ToolChoiceChanges,
): Promise<ToolChoice | null> {
  const tidy = tidyChoice(changes)
  const found = await tx`select 1 from agents where id = ${agentId} for no key update`
  if (found.length === 0) return null
  await requireTools(tx, tidy)
  await replaceChoice(tx, agentId, tidy)
  return findAgentTools(tx, agentId)
}

async function replaceChoice(tx: Tx, agentId: string, choice: ToolChoiceChanges): Promise<void> {
  const { httpToolIds, mcpServers, builtInToolIds, approvals, ...others } = choice
  others satisfies Record<string, never> // a kind that is not stored does not compile
  if (httpToolIds) {
    await tx`delete from agent_http_tools where agent_id = ${agentId}`
    await tx`
      insert into agent_http_tools (agent_id, http_tool_id, place)
      select ${agentId}, id, place from unnest(${httpToolIds}::uuid[]) with ordinality as given (id, place)`
  }
  if (mcpServers) {
    await tx`delete from agent_mcp_servers where agent_id = ${agentId}`
    for (const [place, { mcpServerId, toolNames }] of mcpServers.entries()) {
      await tx`
        insert into agent_mcp_servers (agent_id, mcp_server_id, tool_names, place)
        values (${agentId}, ${mcpServerId}, ${toolNames}::text[], ${place})`
    }
  }
  if (builtInToolIds) await tx`update agents set built_in_tool_ids = ${builtInToolIds}::text[] where id = ${agentId}`
  if (approvals) await tx`update agents set approvals = ${JSON.stringify(approvals)}::text::jsonb where id = ${agentId}`
}

type Opened<Stored extends StoredHeaders> = Omit<Stored, 'secretHeaders'>

/** Tools ready to be called: headers in plain text. */
export interface ReadyTools {
  httpTools: Opened<StoredHttpTool>[]
  mcpServers: { server: Opened<StoredMcpServer>; toolNames: string[] }[]
  builtInToolIds: string[]
  /** Omitted, because no key decrypts their headers: `http-tool:<id>`, `mcp-server:<id>`. */
  unreadable: HeaderContext[]
}

/** The chosen tools, in the order of the choice. Tools that were deleted meanwhile are omitted. */
export async function readyTools(
  sql: AnySql,
  secrets: Pick<Secrets, 'open'>,
  { httpToolIds, mcpServers, builtInToolIds, approvals: _, ...others }: ToolChoice,
): Promise<ReadyTools> {
  others satisfies Record<string, never>
  const [tools, servers] = await Promise.all([
    storedHttpTools(sql, httpToolIds),
    storedMcpServers(
      sql,
      mcpServers.map(({ mcpServerId }) => mcpServerId),
    ),
  ])
  const unreadable: HeaderContext[] = []
  const opened = <Stored extends StoredHeaders>(stored: Stored | undefined, context: HeaderContext) => {
    if (stored === undefined) return []
    try {
      const { secretHeaders: _, ...rest } = stored
      return [{ ...rest, headers: openHeaders(secrets, context, stored) }]
    } catch {
      unreadable.push(context)
      return []
    }
  }
  const toolById = new Map(tools.map((tool) => [tool.id, tool]))
  const serverById = new Map(servers.map((server) => [server.id, server]))
  return {
    httpTools: httpToolIds.flatMap((id) => opened(toolById.get(id), `http-tool:${id}`)),
    mcpServers: mcpServers.flatMap(({ mcpServerId: id, toolNames }) =>
      opened(serverById.get(id), `mcp-server:${id}`).map((server) => ({ server, toolNames })),
    ),
    builtInToolIds,
    unreadable,
  }
}
