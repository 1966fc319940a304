/** Which tools an agent may call. */
import type { Approval, WorkOutNames } from '../../../actors/ports/index.ts'
import type { AnySql, Tx } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import { isUuid } from '../../postgres/uuid.ts'
import { idsIn, keepNames, tidyApprovals } from './approvals.ts'

/** The tools in the order in which the model gets them. `toolNames` `["*"]`: every tool of the server. */
export interface ToolChoice {
  httpToolIds: string[]
  mcpServers: { mcpServerId: string; toolNames: string[] }[]
  builtInToolIds: string[]
  /** Whose calls need approval. `*` among them, or instead of them: all. */
  approvals: Approval[] | '*'
}

/** Undefined arrays keep their value. A kind of tools that is left out does not compile. */
export type ToolChoiceChanges = { [Field in keyof ToolChoice]: ToolChoice[Field] | undefined }

/** A choice refers to a tool that does not exist. */
export class UnknownTool extends Error {
  override readonly name = 'UnknownTool'
  constructor(field: keyof ToolChoice, { noun }: RecordKind, id: string) {
    super(`${field}: there is no ${noun} ${JSON.stringify(id)}`)
  }
}

/** A kind of tools that are records. */
interface RecordKind {
  noun: string
  /** Where a choice names them, and which. */
  field: keyof ToolChoice
  chosen(choice: ToolChoiceChanges): string[]
  /** The field of an identity that has the record's id. */
  identity: string
  /** Those that exist. In a transaction they cannot be deleted before its end. */
  existing(sql: AnySql, ids: string[]): Promise<{ id: string }[]>
}

const recordKinds: readonly RecordKind[] = [
  {
    noun: 'HTTP tool',
    field: 'httpToolIds',
    chosen: ({ httpToolIds }) => httpToolIds ?? [],
    identity: 'httpToolId',
    existing: (sql, ids) => sql<{ id: string }[]>`
      select id from http_tools where id = any (${ids}::uuid[]) order by id for key share`,
  },
  {
    noun: 'MCP server',
    field: 'mcpServers',
    chosen: ({ mcpServers }) => (mcpServers ?? []).map(({ mcpServerId }) => mcpServerId),
    identity: 'mcpServerId',
    existing: (sql, ids) => sql<{ id: string }[]>`
      select id from mcp_servers where id = any (${ids}::uuid[]) order by id for key share`,
  },
]

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
    approvals: approvals && tidyApprovals(approvals),
  }
}

/** Rejects with UnknownTool. */
export async function requireTools(sql: AnySql, choice: ToolChoiceChanges): Promise<void> {
  for (const kind of recordKinds) await requireAll(sql, kind.field, kind, kind.chosen(choice))
}

/** A tool that was deleted since may stay: what was read can be sent back. */
async function requireApproved(tx: Tx, agentId: string, approvals: Approval[] | '*'): Promise<void> {
  const before = (await findAgentTools(tx, agentId))?.approvals ?? []
  for (const kind of recordKinds) {
    const known = idsIn(before, kind.identity)
    const added = idsIn(approvals, kind.identity).filter((id) => !known.includes(id))
    await requireAll(tx, 'approvals', kind, added)
  }
}

async function requireAll(sql: AnySql, field: keyof ToolChoice, kind: RecordKind, ids: string[]): Promise<void> {
  const malformed = ids.find((id) => !isUuid(id))
  if (malformed !== undefined) throw new UnknownTool(field, kind, malformed)
  if (ids.length === 0) return
  const rows = await kind.existing(sql, ids)
  const known = new Set(rows.map(({ id }) => id))
  const unknown = ids.find((id) => !known.has(id.toLowerCase()))
  if (unknown !== undefined) throw new UnknownTool(field, kind, unknown)
}

export interface ChoiceChange {
  agentId: string
  changes: ToolChoiceChanges
  workOut: WorkOutNames
}

/** Null when there is no such agent. Rejects with UnknownTool: then nothing changes. */
export async function changeAgentTools(
  tx: Tx,
  { agentId, changes, workOut }: ChoiceChange,
): Promise<ToolChoice | null> {
  const tidy = tidyChoice(changes)
  const found = await tx`select 1 from agents where id = ${agentId} for no key update`
  if (found.length === 0) return null
  await requireTools(tx, tidy)
  await requireApproved(tx, agentId, tidy.approvals ?? [])
  await replaceChoice(tx, agentId, tidy)
  await keepNames(tx, agentId, workOut)
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
