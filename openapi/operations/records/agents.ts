import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { UserUses, userUsePage } from '../../schemas/limits.ts'
import { Agent, AgentCreate, AgentList, AgentUpdate } from '../../schemas/records/configuration.ts'
import { draftQuery } from '../../schemas/records/drafts.ts'

const one = '/api/v1/agents/{id}'
const unknown = 'There is no such agent.'

export const agents = operations({
  listAgents: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/agents',
    scope: 'management',
    role: 'viewer',
    summary: 'List agents, oldest first',
    query: searchPage,
    responses: { 200: AgentList },
  },
  createAgent: {
    method: 'post',
    path: '/api/v1/agents',
    scope: 'management',
    role: 'editor',
    summary: 'Create an agent',
    body: AgentCreate,
    responses: { 201: Agent },
  },
  getAgent: {
    method: 'get',
    refusesUnknown: true,
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read an agent',
    query: draftQuery,
    responses: { 200: Agent },
    errors: { 404: unknown },
  },
  updateAgent: {
    method: 'put',
    refusesUnknown: true,
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Change an agent',
    description:
      'Changes the fields in the body; `generationConfig` and `allowedOrigins` are each replaced as a whole. Makes a version and publishes it, unless the draft is meant.',
    query: draftQuery,
    body: AgentUpdate,
    responses: { 200: Agent },
    errors: { 404: unknown },
  },
  listUserUses: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/users/use`,
    scope: 'management',
    role: 'editor',
    summary: 'Read what the users of an agent have used of its limits',
    description:
      'Users with any use in this month, those with the most tokens of today first. It is counted from when the agent has `userLimits`.',
    query: userUsePage,
    responses: { 200: UserUses },
    errors: { 404: unknown },
  },
  deleteAgent: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'admin',
    summary: 'Delete an agent',
    description: 'Cancels its running replies, then removes its sessions.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
