import { type Operation, operations } from '../../operation.ts'
import {
  AgentResponseRequestBody,
  itemPage,
  ResponseDeleted,
  ResponseEvent,
  ResponseItemList,
  ResponseObject,
  ResponseRequestBody,
  responseRead,
} from '../../schemas/deploy/responses.ts'
import { overLimit } from '../../schemas/limits.ts'

const deploy = '/api/v1/agents/{agent_id}/deploy'
const openai = '/api/v1/openai'
const unknown = 'There is no such response, or it is not the caller’s.'

const create = {
  method: 'post',
  scope: 'deploy',
  headers: {
    'Idempotency-Key':
      'Up to 255 characters, kept for 24 hours. The same key and body joins the first response; another body: 400.',
  },
  takesParts: true,
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
} as const

/** Returns the fields common to the paths below an agent and below `/api/v1/openai`. */
const get = (path: string) =>
  ({
    method: 'get',
    path: `${path}/responses/{response_id}`,
    scope: 'deploy',
    summary: 'Read a response, or follow its events',
    description:
      'As far as it has come, whether it runs or not. With `stream=true` its events, from the beginning or behind `starting_after`: the same under the same numbers for every reader. Replies that another API began are read here too.',
    headers: { 'Last-Event-ID': 'As `starting_after`, which wins.' },
    query: responseRead,
    streams: 'also',
    events: [ResponseEvent],
    responses: { 200: ResponseObject },
    errors: { 404: unknown },
  }) satisfies Operation
const remove = (path: string) =>
  ({
    method: 'delete',
    path: `${path}/responses/{response_id}`,
    scope: 'deploy',
    summary: 'Take back the last response of a conversation',
    description: 'It goes, and the message that it answers; the conversation ends before them.',
    responses: { 200: ResponseDeleted },
    errors: { 404: unknown, 409: 'It runs, or others follow it.' },
  }) satisfies Operation
const cancel = (path: string) =>
  ({
    method: 'post',
    path: `${path}/responses/{response_id}/cancel`,
    scope: 'deploy',
    summary: 'Cancel a response that runs',
    description: 'On whichever instance it runs. The answer is the response; one that has ended stays as it is.',
    responses: { 200: ResponseObject },
    errors: { 404: unknown },
  }) satisfies Operation
const inputItems = (path: string) =>
  ({
    method: 'get',
    refusesUnknown: true,
    path: `${path}/responses/{response_id}/input_items`,
    scope: 'deploy',
    summary: 'List what the request of a response brought',
    query: itemPage,
    responses: { 200: ResponseItemList },
    errors: { 404: unknown },
  }) satisfies Operation

export const responses = operations({
  createResponse: {
    ...create,
    path: `${deploy}/responses`,
    secret: 'handler',
    summary: 'Send a message, outputs or approvals; the answer is a response',
    body: ResponseRequestBody,
  },
  getResponse: { ...get(deploy), secret: 'handler' },
  deleteResponse: { ...remove(deploy), secret: 'handler' },
  cancelResponse: { ...cancel(deploy), secret: 'handler' },
  listResponseInputItems: { ...inputItems(deploy), secret: 'handler' },
})

export const agentResponses = operations({
  createAgentResponse: {
    ...create,
    path: `${openai}/responses`,
    summary: 'As createResponse, of the agent that `model` names',
    body: AgentResponseRequestBody,
  },
  getAgentResponse: get(openai),
  deleteAgentResponse: remove(openai),
  cancelAgentResponse: cancel(openai),
  listAgentResponseInputItems: inputItems(openai),
})
