import { operations } from '../../operation.ts'
import { ChatCompletion, completionEvents } from '../../schemas/conversation/chat.ts'
import {
  AgentCompletionRequest,
  AgentModel,
  AgentModelList,
  DeployModel,
  DeployModelList,
} from '../../schemas/deploy/models.ts'
import { overLimit } from '../../schemas/limits.ts'

const openai = '/api/v1/openai'

export const models = operations({
  listDeployModels: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/agents/{agent_id}/deploy/models',
    scope: 'deploy',
    summary: "List the agent's model",
    responses: { 200: DeployModelList },
    errors: { 404: 'There is no such agent.' },
  },
  getDeployModel: {
    method: 'get',
    path: '/api/v1/agents/{agent_id}/deploy/models/{model_id}',
    scope: 'deploy',
    summary: "Read the agent's model",
    responses: { 200: DeployModel },
    errors: { 404: 'There is no such agent, or its model is another one.' },
  },
  listAgentModels: {
    method: 'get',
    refusesUnknown: true,
    path: `${openai}/models`,
    scope: 'deploy',
    summary: 'List all agents, as models',
    responses: { 200: AgentModelList },
  },
  getAgentModel: {
    method: 'get',
    path: `${openai}/models/{model_id}`,
    scope: 'deploy',
    summary: 'Read an agent, as a model',
    description: "An id wins over another agent's name; a name that several agents have: 400.",
    responses: { 200: AgentModel },
    errors: { 404: 'No agent has this id or name.' },
  },
  createAgentCompletion: {
    method: 'post',
    path: `${openai}/chat/completions`,
    scope: 'deploy',
    summary: 'Ask the agent that `model` names, sending the whole conversation',
    description:
      "The stateless completion of that agent. An id wins over another agent's name; a name that several agents have: 400.",
    takesParts: true,
    body: AgentCompletionRequest,
    streams: 'also',
    events: completionEvents,
    responses: { 200: ChatCompletion },
    errors: {
      404: 'No agent has this id or name.',
      429: overLimit,
      500: 'The generation failed; `x-should-retry: false`.',
      503: 'Draining, or too many replies run; see `Retry-After`.',
    },
  },
})
