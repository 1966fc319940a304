/**
 * Metadata that the prompt or tools of an agent use, or of those that it can ask, says on whose behalf they act: a client
 * secret, which a browser holds, may neither set nor change it (contract sections 20 and 30).
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

interface Used {
  names: string[]
  /** The agents that it may ask. */
  asked: string[]
}

/** Returns the names that an agent itself uses. An unknown agent uses none. */
async function usedBy(
  { sql, secrets, agents, statesBesideLive }: UsedMetadataDependencies,
  agentId: string,
  sessionId: string | null,
): Promise<Used> {
  const agent = await agents.find(agentId)
  if (agent === null) return { names: [], asked: [] }
  const states = [agent, ...(await statesBesideLive(agent.id, sessionId))]
  const used = states.map(async ({ system, tools }): Promise<Used> => {
    const { httpTools, mcpServers, agentTools } = await readyTools(sql, secrets, tools)
    return {
      names: [
        ...metadataIn(system ?? ''),
        ...httpTools.flatMap(metadataOfTool),
        ...mcpServers.flatMap(({ server }) => metadataOfHeaders(server.headers)),
      ],
      asked: agentTools.map((called) => called.agentId),
    }
  })
  const all = await Promise.all(used)
  return { names: all.flatMap(({ names }) => names), asked: all.flatMap(({ asked }) => asked) }
}

/** Returns the names that the agent uses, or any agent that it can reach: their sessions have its metadata. */
async function usedNames(deps: UsedMetadataDependencies, agentId: string, sessionId: string | null): Promise<string[]> {
  const names = new Set<string>()
  const reached = new Set([agentId])
  for (const id of reached) {
    const used = await usedBy(deps, id, id === agentId ? sessionId : null)
    for (const name of used.names) names.add(name)
    for (const asked of used.asked) reached.add(asked)
  }
  return [...names]
}

/** Throws 403 where `given` says something else than `stored` under a name that the agent uses, or one that it can ask. */
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
  throw new HttpError(
    403,
    `metadata.${changed}: the prompt or tools of the agent use it, or those of one that it asks; only the deploy key may set it`,
  )
}
