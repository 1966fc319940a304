import { operations } from '../../operation.ts'
import { AgentTools, AgentToolsUpdate } from '../../schemas/records/tools.ts'

const path = '/api/v1/agents/{agent_id}/tools'
const unknown = 'There is no such agent.'

export const agentTools = operations({
  getAgentTools: {
    method: 'get',
    path,
    scope: 'management',
    role: 'viewer',
    summary: 'Read the tools of an agent',
    responses: { 200: AgentTools },
    errors: { 404: unknown },
  },
  updateAgentTools: {
    method: 'put',
    path,
    scope: 'management',
    role: 'editor',
    summary: 'Choose the tools of an agent',
    body: AgentToolsUpdate,
    responses: { 200: AgentTools },
    errors: { 404: unknown },
  },
})
