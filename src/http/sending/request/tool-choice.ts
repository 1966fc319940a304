/** Choices of tools as callers send them: for an agent, or for one playground reply. */

import type { AnySql } from '../../../persistence/postgres/database.ts'
import type { ToolChoice, ToolChoiceChanges } from '../../../persistence/records/tools/agent-tools.ts'
import { requireTools, tidyChoice, UnknownTool } from '../../../persistence/records/tools/agent-tools.ts'
import type { ToolsOfAgent } from '../../../persistence/records/tools/approvals.ts'
import { badRequest } from '../../server/http-error.ts'
import { readApprovals } from '../approvals.ts'

type GivenTools = { [Field in keyof ToolChoice]?: ToolChoice[Field] | null | undefined }

/** What one playground request may choose instead of its agent's. */
export type ToolField = Exclude<keyof ToolChoice, 'approvals'>

/** Null is none; absent stays absent. Throws 400 for an unknown built-in tool. */
export function givenTools(
  { httpToolIds, mcpServers, builtInToolIds, approvals }: GivenTools,
  builtInTools: readonly { id: string }[],
): ToolChoiceChanges {
  const unknown = builtInToolIds?.find((id) => !builtInTools.some((tool) => tool.id === id))
  if (unknown !== undefined) badRequest(`builtInToolIds: there is no built-in tool ${JSON.stringify(unknown)}`)
  return {
    httpToolIds: httpToolIds === null ? [] : httpToolIds,
    mcpServers: mcpServers === null ? [] : mcpServers,
    builtInToolIds: builtInToolIds === null ? [] : builtInToolIds,
    approvals: approvals === null ? [] : approvals && readApprovals(approvals, builtInTools),
  }
}

/** Turns UnknownTool into 400. */
export async function withKnownTools<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UnknownTool)) throw error
    return badRequest(error.message)
  }
}

/** The agent's choice, with the arrays of one request in place of its own. Throws 400 where they name what is unknown. */
export async function choiceFor(
  { sql, builtInTools }: { sql: AnySql; builtInTools: readonly { id: string }[] },
  own: ToolsOfAgent,
  given: GivenTools,
): Promise<ToolsOfAgent> {
  const changes = tidyChoice(givenTools(given, builtInTools))
  await withKnownTools(() => requireTools(sql, changes))
  return {
    httpToolIds: changes.httpToolIds ?? own.httpToolIds,
    mcpServers: changes.mcpServers ?? own.mcpServers,
    builtInToolIds: changes.builtInToolIds ?? own.builtInToolIds,
    approvals: own.approvals,
    named: own.named,
  }
}
