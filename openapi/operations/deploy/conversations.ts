import { type Operation, operations } from '../../operation.ts'
import {
  AgentConversationCreate,
  Conversation,
  ConversationChange,
  ConversationCreate,
  ConversationDeleted,
  itemPage,
  ResponseItemList,
} from '../../schemas/deploy/responses.ts'

const deploy = '/api/v1/agents/{agent_id}/deploy'
const openai = '/api/v1/openai'
const unknown = 'There is no such conversation, or it is not the caller’s.'

const create = {
  method: 'post',
  scope: 'deploy',
  takesParts: true,
  refusesUnknown: true,
  summary: 'Make a conversation, with messages to begin with',
  responses: { 200: Conversation },
  errors: { 404: 'There is no such agent.' },
} as const

/** Returns the fields common to the paths below an agent and below `/api/v1/openai`. */
const one = (path: string) => ({ path: `${path}/conversations/{conversation_id}`, scope: 'deploy' }) as const
const get = (path: string) =>
  ({
    ...one(path),
    method: 'get',
    summary: 'Read a conversation',
    responses: { 200: Conversation },
    errors: { 404: unknown },
  }) satisfies Operation
const update = (path: string) =>
  ({
    ...one(path),
    method: 'post',
    summary: 'Replace the metadata of a conversation',
    body: ConversationChange,
    refusesUnknown: true,
    responses: { 200: Conversation },
    errors: { 404: unknown },
  }) satisfies Operation
const remove = (path: string) =>
  ({
    ...one(path),
    method: 'delete',
    summary: 'Delete a conversation with all that was said in it',
    responses: { 200: ConversationDeleted },
    errors: { 404: unknown },
  }) satisfies Operation
const items = (path: string) =>
  ({
    ...one(path),
    path: `${path}/conversations/{conversation_id}/items`,
    method: 'get',
    refusesUnknown: true,
    summary: 'List what was said in a conversation',
    query: itemPage,
    responses: { 200: ResponseItemList },
    errors: { 404: unknown },
  }) satisfies Operation

export const conversations = operations({
  createConversation: {
    ...create,
    path: `${deploy}/conversations`,
    secret: 'handler',
    body: ConversationCreate,
    bodyOptional: true,
  },
  getConversation: { ...get(deploy), secret: 'handler' },
  updateConversation: { ...update(deploy), secret: 'handler' },
  deleteConversation: { ...remove(deploy), secret: 'handler' },
  listConversationItems: { ...items(deploy), secret: 'handler' },
})

export const agentConversations = operations({
  createAgentConversation: { ...create, path: `${openai}/conversations`, body: AgentConversationCreate },
  getAgentConversation: get(openai),
  updateAgentConversation: update(openai),
  deleteAgentConversation: remove(openai),
  listAgentConversationItems: items(openai),
})
