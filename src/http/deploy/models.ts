/** Agents as models, for clients that choose one from a list (contract section 11). */
import type { Sql } from '../../persistence/postgres/database.ts'
import { type AgentModel, agentModels, findAgentsByModel } from '../../persistence/records/agent-models.ts'
import { findAgent } from '../../persistence/records/agents.ts'
import { badRequest, HttpError, missing } from '../server/http-error.ts'
import { agentsOf, type Caller, opensAgent } from './access/caller.ts'
import { type CompletionDependencies, completionHandlers } from './completions.ts'
import type { DeployHandlers } from './scope.ts'

const listOf = <Model extends object>(data: readonly Model[]) => ({
  object: 'list' as const,
  data: data.map((model) => ({ ...model, object: 'model' as const, owned_by: 'greenroom' as const })),
})

const asModel = ({ id, name, created }: AgentModel) => ({ id, name, created })

/** Throws 404 when no agent of the caller's is meant, 400 when several are. */
export async function agentNamed(sql: Sql, model: string, caller: Caller): Promise<string> {
  const [agentId, another] = await findAgentsByModel(sql, model, agentsOf(caller))
  if (agentId === undefined) throw new HttpError(404, 'model: no agent has this id or name')
  if (another !== undefined) badRequest('model: several agents have this name: give the id of one')
  return agentId
}

export const modelHandlers = (deps: CompletionDependencies) => {
  const { createChatCompletion } = completionHandlers(deps)
  return {
    listDeployModels: async ({ params }) => {
      const { model, createdAt } = (await findAgent(deps.sql, params.agent_id)) ?? missing('agent')
      return listOf([{ id: model, created: Math.floor(Date.parse(createdAt) / 1000) }])
    },
    listAgentModels: async ({ caller }) =>
      listOf((await agentModels(deps.sql)).filter(({ id }) => opensAgent(caller, id)).map(asModel)),
    createAgentCompletion: async ({ body, ...exchange }) => {
      const { caller } = exchange
      const agentId = await agentNamed(deps.sql, body.model, caller)
      return await createChatCompletion({ ...exchange, body, params: { agent_id: agentId } })
    },
  } satisfies DeployHandlers<'models'>
}
