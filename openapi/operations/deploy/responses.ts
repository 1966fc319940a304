import { operations } from '../../operation.ts'
import {
  AgentResponseCompact,
  AgentResponseRequestBody,
  itemPage,
  ResponseCompact,
  ResponseCompaction,
  ResponseDeleted,
  ResponseEvent,
  ResponseInputTokens,
  ResponseItemList,
  ResponseObject,
  ResponseRequestBody,
  responseRead,
} from '../../schemas/deploy/responses.ts'
import { overLimit } from '../../schemas/limits.ts'
import { belowOpenai } from './below-openai.ts'

const all = '/api/v1/agents/{agent_id}/deploy/responses'
const one = `${all}/{response_id}`
const unknown = 'There is no such response, or it is not the caller’s.'

export const responses = operations({
  createResponse: {
    method: 'post',
    path: all,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Send a message, outputs or approvals; the answer is a response',
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept for 24 hours. The same key and body joins the first response; another body: 400.',
    },
    takesParts: true,
    body: ResponseRequestBody,
    streams: 'also',
    events: [ResponseEvent],
    responses: { 200: ResponseObject },
    errors: {
      404: 'There is no such agent or conversation.',
      409: 'A response runs in the conversation (see `on_busy`), or nothing waits for what was sent; nothing was stored.',
      429: overLimit,
      500: 'The generation failed: `x-should-retry: false`, and `code` is why.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  countResponseInput: {
    method: 'post',
    path: `${all}/input_tokens`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Estimate the tokens that the model would be sent for a response',
    description: 'No model and no server is asked, nothing is stored, and it counts as no request.',
    takesParts: true,
    body: ResponseRequestBody,
    bodyOptional: true,
    responses: { 200: ResponseInputTokens },
    errors: { 404: 'There is no such agent or conversation.' },
  },
  compactResponse: {
    method: 'post',
    path: `${all}/compact`,
    scope: 'deploy',
    secret: 'handler',
    takesParts: true,
    summary: 'Summarise a conversation up to its newest response, or one that is stored nowhere',
    body: ResponseCompact,
    responses: { 200: ResponseCompaction },
    errors: {
      404: 'There is no such agent.',
      409: 'Other messages follow the response, a reply or another compaction runs, or calls wait. `x-should-retry: false`.',
      429: overLimit,
      500: 'The summary failed, or was cancelled. `x-should-retry: false`.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  getResponse: {
    method: 'get',
    path: one,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Read a response, or follow its events',
    description:
      'As far as it has come, whether it runs or not. With `stream=true` its events, from the beginning or behind `starting_after`: the same under the same numbers for every reader. Replies that another API began are read here too.',
    headers: { 'Last-Event-ID': 'As `starting_after`, which wins.' },
    query: responseRead,
    streams: 'also',
    events: [ResponseEvent],
    responses: { 200: ResponseObject },
    errors: { 404: unknown },
  },
  deleteResponse: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Take back the last response of a conversation',
    description: 'It goes, and the message that it answers; the conversation ends before them.',
    responses: { 200: ResponseDeleted },
    errors: { 404: unknown, 409: 'It runs, or others follow it.' },
  },
  cancelResponse: {
    method: 'post',
    path: `${one}/cancel`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Cancel a response that runs',
    description: 'On whichever instance it runs. The answer is the response; one that has ended stays as it is.',
    responses: { 200: ResponseObject },
    errors: { 404: unknown },
  },
  listResponseInputItems: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/input_items`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'List what the request of a response brought',
    query: itemPage,
    responses: { 200: ResponseItemList },
    errors: { 404: unknown },
  },
})

export const agentResponses = operations({
  createAgentResponse: belowOpenai(responses.createResponse, {
    summary: 'As createResponse, of the agent that `model` names',
    body: AgentResponseRequestBody,
  }),
  countAgentResponseInput: belowOpenai(responses.countResponseInput, { body: AgentResponseRequestBody }),
  compactAgentResponse: belowOpenai(responses.compactResponse, { body: AgentResponseCompact }),
  getAgentResponse: belowOpenai(responses.getResponse),
  deleteAgentResponse: belowOpenai(responses.deleteResponse),
  cancelAgentResponse: belowOpenai(responses.cancelResponse),
  listAgentResponseInputItems: belowOpenai(responses.listResponseInputItems),
})
