/** Agents as models, for clients that choose one from a list (contract section 11). */

import { agentsOf, type Caller, type DeployHandlers, opensAgent } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { type AgentModel, agentModels, findAgentsByModel } from '../../../persistence/records/agent-models.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { badRequest, HttpError, missing } from '../../server/http-error.ts'
import { brokenText } from '../../server/request-body/text.ts'
import { type CompletionDependencies, completionHandlers } from './completions.ts'

const asModel = <Model extends object>(model: Model) => ({
  ...model,
  object: 'model' as const,
  owned_by: 'greenroom' as const,
})

const listOf = <Model extends object>(data: readonly Model[]) => ({ object: 'list' as const, data: data.map(asModel) })

const agentAsModel = ({ id, name, created }: AgentModel) => ({ id, name, created })

const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** Throws 404 when no agent of the caller's is meant, 400 when several are. */
export async function agentNamed(sql: Sql, model: string, caller: Caller): Promise<string> {
  const [agentId, another] = await findAgentsByModel(sql, model, agentsOf(caller))
  if (agentId === undefined)
    throw new HttpError(404, 'model: no agent has this id or name; GET /api/v1/openai/models lists the agents')
  if (another !== undefined) badRequest('model: several agents have this name: give the id of one')
  return agentId
}

export const modelHandlers = (deps: CompletionDependencies) => {
  const { createChatCompletion } = completionHandlers(deps)
  const modelOf = async (agentId: string) => {
    const { model, createdAt } = (await findAgent(deps.sql, agentId)) ?? missing('agent')
    return { id: model, created: secondsOf(createdAt) }
  }
  return {
    listDeployModels: async ({ params }) => listOf([await modelOf(params.agent_id)]),
    getDeployModel: async ({ params }) => {
      const model = await modelOf(params.agent_id)
      return model.id === params.model_id ? asModel(model) : missing('model')
    },
    listAgentModels: async ({ caller }) =>
      listOf((await agentModels(deps.sql)).filter(({ id }) => opensAgent(caller, id)).map(agentAsModel)),
    getAgentModel: async ({ params, caller }) => {
      if (brokenText(params.model_id) !== null) missing('model')
      const agentId = await agentNamed(deps.sql, params.model_id, caller)
      const { id, name, createdAt } = (await findAgent(deps.sql, agentId)) ?? missing('agent')
      return asModel({ id, name, created: secondsOf(createdAt) })
    },
    createAgentCompletion: async ({ body, ...exchange }) => {
      const { caller } = exchange
      const agentId = await agentNamed(deps.sql, body.model, caller)
      return await createChatCompletion({ ...exchange, body, params: { agent_id: agentId } })
    },
  } satisfies DeployHandlers<'models'>
}
