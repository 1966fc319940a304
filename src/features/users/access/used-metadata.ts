/**
 * Metadata that an agent's prompt or tools use says on whose behalf they act: a client secret, which a browser holds, may
 * neither set nor change it (contract section 20).
 */

import { HttpError } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import type { AgentForCompletion, AgentLookup } from '../../../persistence/records/agent-lookup.ts'
import { readyTools } from '../../../persistence/records/tools/ready-tools.ts'
import { metadataOfHeaders } from '../../../templates/header-template.ts'
import { metadataIn } from '../../../templates/placeholders.ts'
import { metadataOfTool } from '../../../templates/tool-template.ts'

export interface UsedMetadataDependencies {
  sql: Sql
  secrets: Pick<Secrets, 'open'>
  agents: Pick<AgentLookup, 'find'>
  /** Finds the agent's draft, and the version that the session is pinned to. */
  statesBesideLive(
    agentId: string,
    sessionId: string | null,
  ): Promise<readonly Pick<AgentForCompletion, 'system' | 'tools'>[]>
}

type Metadata = Readonly<Record<string, string>>

/** Returns the names that the agent uses. An unknown agent uses none. */
async function usedNames(
  { sql, secrets, agents, statesBesideLive }: UsedMetadataDependencies,
  agentId: string,
  sessionId: string | null,
): Promise<string[]> {
  const agent = await agents.find(agentId)
  if (agent === null) return []
  const states = [agent, ...(await statesBesideLive(agent.id, sessionId))]
  const names = states.map(async ({ system, tools }) => {
    const { httpTools, mcpServers } = await readyTools(sql, secrets, tools)
    return [
      ...metadataIn(system ?? ''),
      ...httpTools.flatMap(metadataOfTool),
      ...mcpServers.flatMap(({ server }) => metadataOfHeaders(server.headers)),
    ]
  })
  return [...new Set((await Promise.all(names)).flat())]
}

/** Throws 403 where `given` says something else than `stored` under a name that the agent uses. */
export async function refuseUsedMetadata(
  deps: UsedMetadataDependencies,
  agentId: string,
  given: Metadata,
  stored: () => Promise<Metadata>,
  sessionId: string | null = null,
): Promise<void> {
  const used = await usedNames(deps, agentId, sessionId)
  if (used.length === 0) return
  const before = await stored()
  const own = (metadata: Metadata, name: string) => (Object.hasOwn(metadata, name) ? metadata[name] : undefined)
  const changed = used.find((name) => own(given, name) !== own(before, name))
  if (changed === undefined) return
  throw new HttpError(403, `metadata.${changed}: the agent's prompt or tools use it; only the deploy key may set it`)
}
