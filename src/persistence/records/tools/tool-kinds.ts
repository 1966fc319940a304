/**
 * The kinds of tools that an agent may choose, as they are stored: what each has to say is here, once. Its records, if it has
 * any, have a file of their own.
 */

import { exactObject, parseNoted } from '../../../untrusted/exact-json.ts'
import type { AnySql, Tx } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import type { Approval, ToolIdentity } from './configured-tools.ts'

/** The tools in the order in which the model gets them. `toolNames` `["*"]`: every tool of the server. */
export interface ChosenTools {
  httpToolIds: string[]
  mcpServers: { mcpServerId: string; toolNames: string[] }[]
  builtInToolIds: string[]
  agentTools: AgentTool[]
}

/** An agent that is asked by a tool. Null: the name is the agent's, the description is made from it. */
export interface AgentTool {
  agentId: string
  name: string | null
  description: string | null
}

export interface ToolChoice extends ChosenTools {
  /** Tools whose calls need approval. `*` among them, or instead of them: all. */
  approvals: Approval[] | '*'
  /** Seconds after which an approval that nobody has decided is rejected. Null: never. */
  approvalsExpireAfterS: number | null
}

/** A choice in a request: null chooses none, an absent field keeps its value. */
export type Given<Choice> = { [Field in keyof Choice]?: Choice[Field] | null | undefined }

/** Undefined arrays keep their value. A kind of tools that is left out does not compile. */
export type Changes<Choice> = { [Field in keyof Choice]: Choice[Field] | undefined }

/** A kind of tools that are records. */
export interface RecordKind {
  noun: string
  /** The field of a choice that names them. */
  field: keyof ChosenTools
  chosen(choice: Changes<ChosenTools>): string[]
  /** The field of an identity that has the record's id. */
  identity: string
  /** Returns the ids that exist. In a transaction these records cannot be deleted before its end. */
  existing(sql: AnySql, ids: string[]): Promise<{ id: string }[]>
}

export const recordKinds: readonly RecordKind[] = [
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
  {
    noun: 'agent',
    field: 'agentTools',
    chosen: ({ agentTools }) => (agentTools ?? []).map(({ agentId }) => agentId),
    identity: 'agentId',
    existing: (sql, ids) => sql<{ id: string }[]>`
      select id from agents where id = any (${ids}::uuid[]) order by id for key share`,
  },
]

/** Reports whether it has tools that receive values of the session: all but the built-in ones. */
export const choosesRecords = (choice: ChosenTools): boolean =>
  recordKinds.some(({ chosen }) => chosen(choice).length > 0)

/** Reports whether it has no tools. */
export const choosesNone = (choice: ChosenTools): boolean =>
  choice.builtInToolIds.length === 0 && !choosesRecords(choice)

/** Selects the choice of the agent `a` as one JSON value, of type ToolChoice. Read it as text, by `readChoice`. */
export const choiceOf = (sql: AnySql): Fragment => sql`
  jsonb_build_object(
    'httpToolIds', (select coalesce(jsonb_agg(t.http_tool_id order by t.place), '[]')
                      from agent_http_tools t where t.agent_id = a.id),
    'mcpServers', (select coalesce(jsonb_agg(jsonb_build_object(
                            'mcpServerId', s.mcp_server_id, 'toolNames', to_jsonb(s.tool_names)) order by s.place), '[]')
                     from agent_mcp_servers s where s.agent_id = a.id),
    'builtInToolIds', to_jsonb(a.built_in_tool_ids),
    'agentTools', (select coalesce(jsonb_agg(jsonb_build_object(
                            'agentId', t.called_agent_id, 'name', t.name, 'description', t.description) order by t.place), '[]')
                     from agent_agent_tools t where t.agent_id = a.id),
    'approvals', a.approvals,
    'approvalsExpireAfterS', a.approvals_expire_after_s)`

/** Reads a choice that was selected as text. The numbers in the conditions of approvals keep their digits. */
export const readChoice = <Choice extends Pick<ToolChoice, 'approvals'>>(text: string): Choice =>
  exactChoice<Choice>(Object(parseNoted(text)))

/** Returns a choice of `parseNoted` with the digits of its conditions. */
export function exactChoice<Choice extends { approvals?: ToolChoice['approvals'] }>(choice: Choice): Choice {
  const { approvals } = choice
  return approvals === undefined || approvals === '*' ? choice : { ...choice, approvals: approvals.map(exactApproval) }
}

const exactApproval = (approval: Approval): Approval =>
  typeof approval === 'string' || approval.when === undefined
    ? approval
    : { ...approval, when: exactObject(approval.when) }

/** Selects the tools of the agent `a` with their names as one JSON value, of type ConfiguredTools. */
export const configuredOf = (sql: AnySql): Fragment => sql`
  json_build_object(
    'httpTools', (select coalesce(json_agg(json_build_object('id', h.id, 'name', h.name) order by t.place), '[]')
                    from agent_http_tools t join http_tools h on h.id = t.http_tool_id where t.agent_id = a.id),
    'mcpServers', (select coalesce(json_agg(json_build_object('id', m.id, 'name', m.name, 'toolNames', t.tool_names)
                      order by t.place), '[]')
                     from agent_mcp_servers t join mcp_servers m on m.id = t.mcp_server_id where t.agent_id = a.id),
    'builtInToolIds', to_json(a.built_in_tool_ids),
    'agentTools', (select coalesce(json_agg(json_build_object('id', c.id, 'name', coalesce(t.name, c.name)) order by t.place), '[]')
                     from agent_agent_tools t join agents c on c.id = t.called_agent_id where t.agent_id = a.id))`

export function changesOf({
  httpToolIds,
  mcpServers,
  builtInToolIds,
  agentTools,
}: Given<ChosenTools>): Changes<ChosenTools> {
  return {
    httpToolIds: httpToolIds === null ? [] : httpToolIds,
    mcpServers: mcpServers === null ? [] : mcpServers,
    builtInToolIds: builtInToolIds === null ? [] : builtInToolIds,
    agentTools: agentTools === null ? [] : agentTools,
  }
}

/** Applies changes to a choice. */
export const changed = (own: ChosenTools, changes: Changes<ChosenTools>): ChosenTools => ({
  httpToolIds: changes.httpToolIds ?? own.httpToolIds,
  mcpServers: changes.mcpServers ?? own.mcpServers,
  builtInToolIds: changes.builtInToolIds ?? own.builtInToolIds,
  agentTools: changes.agentTools ?? own.agentTools,
})

/** Normalizes ids and removes duplicates. The tools of a server that is listed twice are merged. */
export function tidyTools({
  httpToolIds,
  mcpServers,
  builtInToolIds,
  agentTools,
}: Changes<ChosenTools>): Changes<ChosenTools> {
  const named = mcpServers && Map.groupBy(mcpServers, ({ mcpServerId }) => mcpServerId.toLowerCase())
  return {
    httpToolIds: httpToolIds && [...new Set(httpToolIds.map((id) => id.toLowerCase()))],
    mcpServers:
      named &&
      Array.from(named, ([mcpServerId, all]) => {
        return { mcpServerId, toolNames: [...new Set(all.flatMap(({ toolNames }) => toolNames))] }
      }),
    builtInToolIds: builtInToolIds && [...new Set(builtInToolIds)],
    agentTools: agentTools?.map((tool) => ({ ...tool, agentId: tool.agentId.toLowerCase() })),
  }
}

export const tidyIdentity = (identity: ToolIdentity): ToolIdentity => {
  if ('httpToolId' in identity) return { httpToolId: identity.httpToolId.toLowerCase() }
  if ('builtInToolId' in identity) return { builtInToolId: identity.builtInToolId }
  if ('agentId' in identity) return { agentId: identity.agentId.toLowerCase() }
  return { mcpServerId: identity.mcpServerId.toLowerCase(), toolName: identity.toolName }
}

/** Stores the arrays that are given in place of those that are stored. */
export async function replaceTools(tx: Tx, agentId: string, choice: Changes<ChosenTools>): Promise<void> {
  const { httpToolIds, mcpServers, builtInToolIds, agentTools, ...others } = choice
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
  if (agentTools) {
    await tx`delete from agent_agent_tools where agent_id = ${agentId}`
    for (const [place, { agentId: called, name, description }] of agentTools.entries()) {
      await tx`
        insert into agent_agent_tools (agent_id, called_agent_id, name, description, place)
        values (${agentId}, ${called}, ${name}, ${description}, ${place})`
    }
  }
  if (builtInToolIds) await tx`update agents set built_in_tool_ids = ${builtInToolIds}::text[] where id = ${agentId}`
}
