/** Choices of tools as callers send them: for an agent, or for one playground reply. */

import type { AnySql } from '../../persistence/postgres/database.ts'
import { requireTools, UnknownTool } from '../../persistence/records/tools/agent-tools.ts'
import type { ToolsOfAgent } from '../../persistence/records/tools/tool-approvals.ts'
import {
  type Changes,
  type ChosenTools,
  changed,
  changesOf,
  type Given,
  type ToolChoice,
  tidyTools,
} from '../../persistence/records/tools/tool-kinds.ts'
import { badRequest } from '../server/http-error.ts'
import { readApprovals } from './given-approvals.ts'

/** The tools that one playground request may choose instead of its agent's. */
export type ToolField = keyof ChosenTools

/** Returns the given choice. Null is none; absent stays absent. Throws 400 for an unknown built-in tool. */
export function givenTools(
  {
    approvals,
    approvalsExpireAfterS,
    ...tools
  }: Omit<Given<ToolChoice>, 'approvals'> & { approvals?: readonly unknown[] | '*' | null | undefined },
  builtInTools: readonly { id: string }[],
): Changes<ToolChoice> {
  const unknown = tools.builtInToolIds?.find((id) => !builtInTools.some((tool) => tool.id === id))
  if (unknown !== undefined) badRequest(`builtInToolIds: there is no built-in tool ${JSON.stringify(unknown)}`)
  return {
    ...changesOf(tools),
    approvals: approvals === null ? [] : approvals && readApprovals(approvals, builtInTools),
    approvalsExpireAfterS,
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

/**
 * Returns the agent's choice, with the arrays of one request in place of its own. Throws 400 where they name what is
 * unknown.
 */
export async function choiceFor(
  { sql, builtInTools }: { sql: AnySql; builtInTools: readonly { id: string }[] },
  own: ToolsOfAgent,
  given: Given<ChosenTools>,
): Promise<ToolsOfAgent> {
  const { approvals: _, approvalsExpireAfterS: __, ...tools } = givenTools(given, builtInTools)
  const changes = tidyTools(tools)
  await withKnownTools(() => requireTools(sql, changes))
  return { ...own, ...changed(own, changes) }
}
