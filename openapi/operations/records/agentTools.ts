import { operations } from '../../operation.ts'
import { draftQuery } from '../../schemas/records/drafts.ts'
import { AgentTools, AgentToolsUpdate } from '../../schemas/records/tools.ts'

const path = '/api/v1/agents/{agent_id}/tools'
const unknown = 'There is no such agent.'

export const agentTools = operations({
  getAgentTools: {
    method: 'get',
    refusesUnknown: true,
    path,
    scope: 'management',
    role: 'viewer',
    summary: 'Read the tools of an agent',
    query: draftQuery,
    responses: { 200: AgentTools },
    errors: { 404: unknown },
  },
  updateAgentTools: {
    method: 'put',
    refusesUnknown: true,
    path,
    scope: 'management',
    role: 'editor',
    summary: 'Choose the tools of an agent',
    query: draftQuery,
    body: AgentToolsUpdate,
    responses: { 200: AgentTools },
    errors: { 404: unknown },
  },
})
