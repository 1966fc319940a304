/** The configuration that an agent's replies depend on: read from its records, and written to them again. */
import { isDeepStrictEqual } from 'node:util'
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { type Agent, exactFormat, updateAgent } from '../../../persistence/records/agents.ts'
import { requireWays } from '../../../persistence/records/tools/agent-ways.ts'
import type { NamedTool, NamedTools } from '../../../persistence/records/tools/configured-tools.ts'
import { exactChoice, replaceTools, type ToolChoice } from '../../../persistence/records/tools/tool-kinds.ts'
import { parseNoted } from '../../../untrusted/exact-json.ts'

/** The fields of an agent that a version holds: all but its name and what concerns its callers. */
export type VersionFields = Omit<
  Agent,
  'id' | 'name' | 'allowedOrigins' | 'allowSharing' | 'userLimits' | 'version' | 'hasDraft' | 'createdAt' | 'updatedAt'
>

/** The values that agent_snapshot.sql writes as `config`. */
export interface Snapshot {
  agent: VersionFields
  tools: ToolChoice
  /** The tools that the names in its approvals stood for when they were saved. */
  named: NamedTools
}

/** A snapshot with the text of its prompt, and with the names that its records had. */
export interface WholeSnapshot extends Snapshot {
  prompt: string | null
  names: { prompt: string | null; providers: Readonly<Record<string, string>> }
}

export interface SnapshotRow {
  /** JSON text: the driver's numbers lose digits. */
  config: string
  prompt: string | null
  names: WholeSnapshot['names']
}

/**
 * Reads stored JSON with an agent's fields. The numbers in its format's schema and its conditions keep their digits.
 */
export function readAgentFields<Stored extends { agent: Partial<VersionFields>; tools: Partial<ToolChoice> }>(
  text: string,
): Stored {
  const stored: Stored = Object(parseNoted(text))
  const { agent } = stored
  stored.tools = exactChoice(stored.tools)
  if (agent.responseFormat) agent.responseFormat = exactFormat(agent.responseFormat)
  return stored
}

export function wholeOf({ config, prompt, names }: SnapshotRow): WholeSnapshot {
  const held = readAgentFields<Snapshot>(config)
  return { ...held, tools: { ...leftOut, ...held.tools }, prompt, names }
}

/** The fields that are left out where they are null or empty. */
const leftOut = { approvalsExpireAfterS: null, agentTools: [] }

/** Reads what the agent is now. Null when there is no such agent. */
export async function readSnapshot(sql: AnySql, agentId: string): Promise<WholeSnapshot | null> {
  const [row] = await sql<SnapshotRow[]>`select config::text, prompt, names from agent_snapshot(${agentId})`
  return row === undefined ? null : wholeOf(row)
}

/** Returns whether two snapshots hold the same. */
export const isSame = (a: WholeSnapshot, b: WholeSnapshot): boolean => isDeepStrictEqual(heldBy(a), heldBy(b))

const heldBy = ({ names: _, ...held }: WholeSnapshot) => held

/**
 * Makes the agent what the snapshot says. To be called with the agent's row locked. Rejects like `updateAgent`, and
 * with EndlessWay.
 */
export async function applySnapshot(tx: Tx, agentId: string, { agent, tools, named }: Snapshot): Promise<void> {
  await updateAgent(tx, agentId, agent)
  const { approvals, approvalsExpireAfterS, ...chosen } = tools
  await requireWays(tx, agentId, chosen.agentTools)
  await replaceTools(tx, agentId, chosen)
  await tx`
    update agents set approvals = ${JSON.stringify(approvals)}::text::jsonb,
                      approval_names = ${JSON.stringify(named)}::text::jsonb,
                      approvals_expire_after_s = ${approvalsExpireAfterS}
     where id = ${agentId}`
}

/**
 * Returns the snapshot without HTTP tools, MCP servers and agents that are gone, and without the approvals that name
 * them.
 */
export async function withoutGoneTools<Held extends Snapshot>(sql: AnySql, held: Held): Promise<Held> {
  const { httpToolIds, mcpServers, agentTools, approvals, ...others } = held.tools
  const meant = [...(approvals === '*' ? [] : approvals), ...Object.values(held.named).flat()]
  const ids = [
    ...httpToolIds,
    ...mcpServers.map(({ mcpServerId }) => mcpServerId),
    ...agentTools.map(({ agentId }) => agentId),
    ...meant.flatMap((tool) => (typeof tool === 'string' ? [] : (idOf(tool) ?? []))),
  ]
  if (ids.length === 0) return held
  const rows = await sql<{ id: string }[]>`
    select id from http_tools where id = any (${ids}::uuid[])
    union all select id from mcp_servers where id = any (${ids}::uuid[])
    union all select id from agents where id = any (${ids}::uuid[])`
  const here = new Set(rows.map(({ id }) => id))
  const isHere = (tool: NamedTool) => here.has(idOf(tool) ?? '') || idOf(tool) === null
  const meaningOf = new Map(Object.entries(held.named)) // a tool may be called `constructor`
  const isMeant = (name: string) => {
    const tools = meaningOf.get(name) ?? []
    return tools.length === 0 || tools.some(isHere)
  }
  const kept =
    approvals === '*'
      ? approvals
      : approvals.filter((approval) => (typeof approval === 'string' ? isMeant(approval) : isHere(approval)))
  return {
    ...held,
    tools: {
      ...others,
      httpToolIds: httpToolIds.filter((id) => here.has(id)),
      mcpServers: mcpServers.filter(({ mcpServerId }) => here.has(mcpServerId)),
      agentTools: agentTools.filter(({ agentId }) => here.has(agentId)),
      approvals: kept,
    },
    named: Object.fromEntries([...meaningOf].filter(([name]) => kept !== '*' && kept.includes(name))),
  }
}

/** Returns the id of the tool's record. Null for a built-in tool. */
const idOf = (tool: NamedTool): string | null => {
  if ('httpToolId' in tool) return tool.httpToolId
  if ('agentId' in tool) return tool.agentId
  return 'mcpServerId' in tool ? tool.mcpServerId : null
}
