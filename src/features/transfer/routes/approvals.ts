/** An agent's tools and approvals by the names of records, as exports have them (contract sections 8 and 25). */
import { toolsByName } from '../../../../openapi/schemas/records/tools.ts'
import { readConditions, readIdentity, readText } from '../../../http/sending/given-approvals.ts'
import type {
  Approval,
  ConfiguredTools,
  NamedTool,
  ToolApproval,
  WorkOutNames,
} from '../../../persistence/records/tools/configured-tools.ts'
import { type StoredApprovals, textOfApproval } from '../../../persistence/records/tools/tool-approvals.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import type { Configuration } from '../store/transfer.ts'

type ApprovalByName =
  | string
  | (({ builtInTool: string } | { httpTool: string } | { agent: string } | { mcpServer: string; toolName: string }) &
      Pick<ToolApproval, 'when' | 'mayRemember'>)

type Records = Pick<Configuration, 'httpTools' | 'mcpServers' | 'agents'>

/** Returns all that an agent has chosen. */
export const toolsOf = (stored: StoredApprovals, records: Records, workOut: WorkOutNames) => ({
  httpTools: stored.configured.httpTools.map(({ name }) => name),
  mcpServers: stored.configured.mcpServers.map(({ name, toolNames }) => ({ server: name, toolNames: [...toolNames] })),
  builtInTools: [...stored.configured.builtInToolIds],
  ...agentsAsked(stored, records),
  approvals: approvalsByName(stored, records, workOut),
  ...(stored.approvalsExpireAfterS !== null && { approvalsExpireAfterS: stored.approvalsExpireAfterS }),
})

/**
 * Returns approvals by name. Tools that are gone are left out. What a name meant when it was saved, and does not mean
 * any more, goes along.
 */
function approvalsByName(
  { approvals, named, configured }: StoredApprovals,
  records: Records,
  workOut: WorkOutNames,
): ApprovalByName[] | '*' {
  if (approvals === '*') return approvals
  const now = workOut(
    approvals.filter((approval) => typeof approval === 'string'),
    configured,
  )
  const before = new Map(Object.entries(named)) // a tool may be called `constructor`
  const all = approvals.flatMap((approval): (ApprovalByName | null)[] => {
    if (typeof approval !== 'string') {
      const { when, mayRemember } = approval
      const named = byName(approval, records)
      return [
        typeof named === 'object' && named
          ? { ...named, ...(when && { when }), ...(mayRemember && { mayRemember }) }
          : named,
      ]
    }
    const says = new Set((now[approval] ?? []).map(textOfApproval))
    const moved = (before.get(approval) ?? []).filter(
      (tool) => !says.has(textOfApproval(tool)) && isConfigured(tool, configured),
    )
    return [approval, ...moved.map((tool) => byName(tool, records))]
  })
  return all.filter((approval) => approval !== null)
}

function byName(
  tool: Exclude<Approval, string> | NamedTool,
  { httpTools, mcpServers, agents }: Records,
): ApprovalByName | null {
  if ('builtInToolId' in tool) return { builtInTool: tool.builtInToolId }
  if ('httpToolId' in tool) {
    const found = httpTools.find(({ id }) => id === tool.httpToolId)
    return found ? { httpTool: found.name } : null
  }
  if ('agentId' in tool) {
    const found = agents.find(({ id }) => id === tool.agentId)
    return found ? { agent: found.name } : null
  }
  const server = mcpServers.find(({ id }) => id === tool.mcpServerId)
  if (server === undefined) return null
  // A name that may stand for several tools of a server cannot be said by a tool's name: all of them are protected.
  return { mcpServer: server.name, toolName: 'toolName' in tool ? tool.toolName : '*' }
}

function isConfigured(
  tool: NamedTool,
  { httpTools, mcpServers, builtInToolIds, agentTools }: ConfiguredTools,
): boolean {
  if ('builtInToolId' in tool) return builtInToolIds.includes(tool.builtInToolId)
  if ('httpToolId' in tool) return httpTools.some(({ id }) => id === tool.httpToolId)
  if ('agentId' in tool) return agentTools.some(({ id }) => id === tool.agentId)
  return mcpServers.some(({ id }) => id === tool.mcpServerId)
}

interface Existing {
  httpTools: { existing(name: string): { id: string } }
  agents: { existing(name: string): { id: string } }
  mcpServers: { existing(name: string): { id: string } }
}

/** Throws 400 for what is no approval, and for a tool that is not here. */
export function approvalByName(given: unknown, { httpTools, mcpServers, agents }: Existing): Approval {
  const where = 'approvals'
  if (typeof given === 'string') return readText(given, where)
  const { when, mayRemember, ...rest } = isObject(given) ? given : { when: null, mayRemember: null }
  const tool = readIdentity(isObject(given) ? rest : given, where, toolsByName)
  const more = readConditions({ when, mayRemember }, where)
  if ('builtInTool' in tool) return { builtInToolId: tool.builtInTool, ...more }
  if ('httpTool' in tool) return { httpToolId: httpTools.existing(tool.httpTool).id, ...more }
  if ('agent' in tool) return { agentId: agents.existing(tool.agent).id, ...more }
  return { mcpServerId: mcpServers.existing(tool.mcpServer).id, toolName: tool.toolName, ...more }
}

/** Returns the agents that are asked, by name. Left out where there are none, as in exports of before. */
function agentsAsked({ agentTools }: StoredApprovals, { agents }: Records) {
  const tools = agentTools.flatMap(({ agentId, ...texts }) => {
    const agent = agents.find(({ id }) => id === agentId)
    return agent ? [{ agent: agent.name, ...texts }] : []
  })
  return tools.length > 0 ? { agentTools: tools } : {}
}
