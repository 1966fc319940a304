/** The agent that a session's next reply uses, for what is decided before the reply is admitted (contract section 28). */
import { type AskedVersion, agentOfVersion, pinOf } from '../../features/versions/index.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { type AgentDependencies, loadAgent } from './agent-for-reply.ts'

/** Returns the agent as the request asks for it, else as the session is pinned. Throws 400, 404 and 409. */
export async function agentOfSession(
  deps: Pick<AgentDependencies, 'agents'> & { sql: Sql },
  { agent_id: agentId, session_id: sessionId }: { agent_id: string; session_id: string },
  asked?: AskedVersion,
): Promise<AgentForCompletion> {
  const live = await loadAgent(deps, agentId)
  if (asked) return await agentOfVersion(deps, live, asked)
  const pin = await pinOf(deps.sql, live.id, sessionId)
  return pin === null ? live : await agentOfVersion(deps, live, { version: pin, field: 'agent_version' })
}
