/** Choices of tools as callers send them: for an agent, or for one playground reply. */

import type { AnySql } from '../../persistence/postgres/database.ts'
import { requireTools, UnknownTool } from '../../persistence/records/tools/agent-tools.ts'
import { checkWays, EndlessWay } from '../../persistence/records/tools/agent-ways.ts'
import type { ToolsOfAgent } from '../../persistence/records/tools/tool-approvals.ts'
import {
  type AgentTool,
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

/** A choice of tools as a request sends it. */
type GivenChoice = Omit<Given<ChosenTools>, 'agentTools'> & {
  agentTools?: readonly (Pick<AgentTool, 'agentId'> & Given<Omit<AgentTool, 'agentId'>>)[] | null | undefined
}

/** Fills in what is left out. Throws 400 for an agent that is named twice. */
function readAgentTools(given: NonNullable<GivenChoice['agentTools']>): AgentTool[] {
  const seen = new Set<string>()
  return given.map(({ agentId, name = null, description = null }, index) => {
    const id = agentId.toLowerCase()
    if (seen.has(id)) badRequest(`agentTools.${index}.agentId: this agent is there twice`)
    seen.add(id)
    return { agentId: id, name, description }
  })
}

/** Returns the given choice. Null is none; absent stays absent. Throws 400 for an unknown built-in tool. */
export function givenTools(
  {
    approvals,
    approvalsExpireAfterS,
    ...tools
  }: GivenChoice & {
    approvals?: readonly unknown[] | '*' | null | undefined
    approvalsExpireAfterS?: number | null | undefined
  },
  builtInTools: readonly { id: string }[],
): Changes<ToolChoice> {
  const unknown = tools.builtInToolIds?.find((id) => !builtInTools.some((tool) => tool.id === id))
  if (unknown !== undefined) badRequest(`builtInToolIds: there is no built-in tool ${JSON.stringify(unknown)}`)
  return {
    ...changesOf({ ...tools, agentTools: tools.agentTools && readAgentTools(tools.agentTools) }),
    approvals: approvals === null ? [] : approvals && readApprovals(approvals, builtInTools),
    approvalsExpireAfterS,
  }
}

/** Turns UnknownTool and EndlessWay into 400. */
export async function withKnownTools<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UnknownTool || error instanceof EndlessWay)) throw error
    return badRequest(error.message)
  }
}

/**
 * Returns the agent's choice, with the arrays of one request in place of its own. Throws 400 where they name what is
 * unknown.
 */
export async function choiceFor(
  { sql, builtInTools }: { sql: AnySql; builtInTools: readonly { id: string }[] },
  { id: agentId, tools: own }: { id: string; tools: ToolsOfAgent },
  given: GivenChoice,
): Promise<ToolsOfAgent> {
  const { approvals: _, approvalsExpireAfterS: __, ...tools } = givenTools(given, builtInTools)
  const changes = tidyTools(tools)
  await withKnownTools(async () => {
    await requireTools(sql, changes)
    await checkWays(sql, agentId, changes.agentTools ?? [])
  })
  return { ...own, ...changed(own, changes) }
}
