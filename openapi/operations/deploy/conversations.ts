import { operations } from '../../operation.ts'
import {
  AgentConversationCreate,
  Conversation,
  ConversationChange,
  ConversationCreate,
  ConversationDeleted,
  ConversationItemsCreate,
  itemPage,
  ResponseItem,
  ResponseItemList,
} from '../../schemas/deploy/responses.ts'
import { noMoreSessions } from '../../schemas/limits.ts'
import { belowOpenai } from './below-openai.ts'

const all = '/api/v1/agents/{agent_id}/deploy/conversations'
const one = `${all}/{conversation_id}`
const held = 'A reply or a compaction runs, calls wait, or messages are queued.'
const unknownItem = 'There is no such conversation or item, or it is not the caller’s.'
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
  createConversationItems: {
    method: 'post',
    path: `${one}/items`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Put items behind the last one of a conversation',
    takesParts: true,
    body: ConversationItemsCreate,
    responses: { 200: ResponseItemList },
    errors: { 404: unknown, 409: held, 413: 'The conversation, or its user, would hold too much.' },
  },
  getConversationItem: {
    method: 'get',
    path: `${one}/items/{item_id}`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Read an item of a conversation',
    responses: { 200: ResponseItem },
    errors: { 404: unknownItem },
  },
  deleteConversationItem: {
    method: 'delete',
    path: `${one}/items/{item_id}`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Take back the last item of a conversation',
    responses: { 200: Conversation },
    errors: { 404: unknownItem, 409: `Other items follow it. ${held}` },
  },
})

export const agentConversations = operations({
  createAgentConversation: belowOpenai(conversations.createConversation, { body: AgentConversationCreate }),
  getAgentConversation: belowOpenai(conversations.getConversation),
  updateAgentConversation: belowOpenai(conversations.updateConversation),
  deleteAgentConversation: belowOpenai(conversations.deleteConversation),
  listAgentConversationItems: belowOpenai(conversations.listConversationItems),
  createAgentConversationItems: belowOpenai(conversations.createConversationItems),
  getAgentConversationItem: belowOpenai(conversations.getConversationItem),
  deleteAgentConversationItem: belowOpenai(conversations.deleteConversationItem),
})
