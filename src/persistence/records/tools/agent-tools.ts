/** Tools that an agent may call. */

import type { AnySql, Tx } from '../../postgres/database.ts'
import { isUuid } from '../../postgres/uuid.ts'
import { requireWays } from './agent-ways.ts'
import type { Approval, WorkOutNames } from './configured-tools.ts'
import { idsIn, keepNames, tidyApprovals } from './tool-approvals.ts'
import {
  type Changes,
  type ChosenTools,
  choiceOf,
  type RecordKind,
  readChoice,
  recordKinds,
  replaceTools,
  type ToolChoice,
  tidyTools,
} from './tool-kinds.ts'

/** A choice refers to a tool that does not exist. */
export class UnknownTool extends Error {
  override readonly name = 'UnknownTool'
  constructor(field: keyof ToolChoice, { noun }: RecordKind, id: string) {
    super(`${field}: there is no ${noun} ${JSON.stringify(id)}`)
  }
}

/** Finds an agent's choice of tools. Null when there is no such agent. */
export async function findAgentTools(sql: AnySql, agentId: string): Promise<ToolChoice | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<{ choice: string }[]>`
    select (${choiceOf(sql)})::text as choice from agents a where a.id = ${agentId}`
  return row ? readChoice(row.choice) : null
}

/** An agent with all that it may call. */
export interface AgentChoice {
  id: string
  name: string
  choice: ToolChoice
}

/**
 * Locks the agents that have this tool, server or agent until the end of the transaction, and returns them with all that they may
 * call.
 */
export async function lockAgentsWith(tx: Tx, toolId: string): Promise<AgentChoice[]> {
  const rows = await tx<(Omit<AgentChoice, 'choice'> & { choice: string })[]>`
    select a.id, a.name, (${choiceOf(tx)})::text as choice from agents a
     where a.id in (select t.agent_id from agent_http_tools t where t.http_tool_id = ${toolId}
                    union all select s.agent_id from agent_mcp_servers s where s.mcp_server_id = ${toolId}
                    union all select t.agent_id from agent_agent_tools t where t.called_agent_id = ${toolId})
     order by a.id for no key update`
  return rows.map((row) => ({ ...row, choice: readChoice(row.choice) }))
}

/** Rejects with UnknownTool. */
export async function requireTools(sql: AnySql, choice: Changes<ChosenTools>): Promise<void> {
  for (const kind of recordKinds) await requireAll(sql, kind.field, kind, kind.chosen(choice))
}

/**
 * Requires the tools of new approvals to exist. Approvals of a tool deleted since may stay, so that what was read can be
 * sent back.
 */
export async function requireApproved(
  tx: Tx,
  before: readonly Approval[] | '*',
  approvals: readonly Approval[] | '*',
): Promise<void> {
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
  changes: Changes<ToolChoice>
  workOut: WorkOutNames
}

/** Changes an agent's choice of tools. Null when there is no such agent. Rejects with UnknownTool: then nothing changes. */
export async function changeAgentTools(
  tx: Tx,
  { agentId, changes: { approvals: given, approvalsExpireAfterS: expiry, ...changes }, workOut }: ChoiceChange,
): Promise<ToolChoice | null> {
  const tools = tidyTools(changes)
  const approvals = given && tidyApprovals(given)
  const found = await tx`select 1 from agents where id = ${agentId} for no key update`
  if (found.length === 0) return null
  await requireTools(tx, tools)
  await requireWays(tx, agentId, tools.agentTools)
  if (approvals) await requireApproved(tx, (await findAgentTools(tx, agentId))?.approvals ?? [], approvals)
  await replaceTools(tx, agentId, tools)
  if (approvals) await tx`update agents set approvals = ${JSON.stringify(approvals)}::text::jsonb where id = ${agentId}`
  if (expiry !== undefined) await tx`update agents set approvals_expire_after_s = ${expiry} where id = ${agentId}`
  await keepNames(tx, agentId, workOut)
  return findAgentTools(tx, agentId)
}
