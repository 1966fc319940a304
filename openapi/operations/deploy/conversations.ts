import { operations } from '../../operation.ts'
import {
  AgentConversationCreate,
  Conversation,
  ConversationChange,
  ConversationCreate,
  ConversationDeleted,
  itemPage,
  ResponseItemList,
} from '../../schemas/deploy/responses.ts'
import { noMoreSessions } from '../../schemas/limits.ts'
import { belowOpenai } from './below-openai.ts'

const all = '/api/v1/agents/{agent_id}/deploy/conversations'
const one = `${all}/{conversation_id}`
const unknown = 'There is no such conversation, or it is not the caller’s.'

export const conversations = operations({
  createConversation: {
    method: 'post',
    refusesUnknown: true,
    path: all,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Make a conversation, with messages to begin with',
    takesParts: true,
    body: ConversationCreate,
    bodyOptional: true,
    responses: { 200: Conversation },
    errors: { 404: 'There is no such agent.', 429: noMoreSessions },
  },
  getConversation: {
    method: 'get',
    path: one,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Read a conversation',
    responses: { 200: Conversation },
    errors: { 404: unknown },
  },
  updateConversation: {
    method: 'post',
    refusesUnknown: true,
    path: one,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Replace the metadata of a conversation',
    body: ConversationChange,
    responses: { 200: Conversation },
    errors: { 404: unknown },
  },
  deleteConversation: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Delete a conversation with all that was said in it',
    responses: { 200: ConversationDeleted },
    errors: { 404: unknown },
  },
  listConversationItems: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/items`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'List what was said in a conversation',
    query: itemPage,
    responses: { 200: ResponseItemList },
    errors: { 404: unknown },
  },
})

export const agentConversations = operations({
  createAgentConversation: belowOpenai(conversations.createConversation, { body: AgentConversationCreate }),
  getAgentConversation: belowOpenai(conversations.getConversation),
  updateAgentConversation: belowOpenai(conversations.updateConversation),
  deleteAgentConversation: belowOpenai(conversations.deleteConversation),
  listAgentConversationItems: belowOpenai(conversations.listConversationItems),
})
