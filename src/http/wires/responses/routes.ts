/** The Responses API over deploy sessions (contract section 24), below an agent and where `model` or an id names it. */

import type { FastifyInstance } from 'fastify'
import { agentConversations, conversations } from '../../../../openapi/operations/deploy/conversations.ts'
import { agentResponses, responses } from '../../../../openapi/operations/deploy/responses.ts'
import { type Caller, opens, opensAgent } from '../../../features/users/access/caller.ts'
import { deleteReply } from '../../../persistence/replies/sessions/sessions.ts'
import { noRetry } from '../../sending/refusals.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import { lastEventId } from '../../streaming/reply-stream.ts'
import { agentNamed } from '../chat/models.ts'
import { type DeployHandlers, mountDeploy } from '../chat/scope.ts'
import { queuedResponse, storedResponse, streamEvents } from './answer.ts'
import { agentConversationHandlers, conversationHandlers } from './conversations.ts'
import { createResponse } from './create.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { idOf, uuidIn } from './ids.ts'
import { type ItemQuery, listOfItems, orderOf } from './item-list.ts'
import type { StoredResponse } from './store/stored-responses.ts'
import { findResponse } from './store/stored-responses.ts'
import { inputItemsOf } from './stored-items.ts'

interface Named {
  /** Null stands for any agent. */
  agentId: string | null
  responseId: string
  caller: Caller
}

/** Throws 404. */
async function findOwn({ sql }: ResponseDependencies, { agentId, responseId, caller }: Named): Promise<StoredResponse> {
  const uuid = uuidIn(responseId)
  const stored = uuid === null ? null : await findResponse(sql, uuid, agentId)
  if (stored === null || !opensAgent(caller, stored.agentId)) return missing('response')
  if (!opens(caller, { id: stored.sessionId, user: stored.user })) return missing('response')
  return stored
}

interface ReadQuery {
  stream?: string | undefined
  starting_after?: number | undefined
}

async function readResponse(
  deps: ResponseDependencies,
  named: Named,
  { stream, starting_after: after }: ReadQuery,
  { request, reply }: Exchange,
) {
  const stored = await findOwn(deps, named)
  if (stream !== 'true') return await storedResponse(deps.sql, stored)
  const header = request.headers['last-event-id']
  const last = header === undefined || header === '' ? -1 : lastEventId(header)
  const source =
    stored.status === 'queued'
      ? deps.host.queued({ replyId: stored.id, sessionId: stored.sessionId, position: 0 })
      : ((await deps.host.open(stored.id)) ?? missing('response'))
  const find = async () => (await findResponse(deps.sql, stored.id, null)) ?? missing('response')
  await streamEvents(reply, { source, find, after: after ?? last })
  return undefined
}

async function cancelResponse(deps: ResponseDependencies, named: Named) {
  let stored = await findOwn(deps, named)
  if (stored.status === 'queued') {
    if (await deps.host.dequeue(stored.sessionId, stored.id)) return queuedResponse(stored, 'cancelled')
    stored = await findOwn(deps, named) // it has begun meanwhile
  }
  if (stored.status === 'streaming') await deps.host.cancel(stored.sessionId, { only: stored.id })
  return await storedResponse(deps.sql, stored)
}

async function deleteResponse(deps: ResponseDependencies, named: Named) {
  const { id, sessionId, status } = await findOwn(deps, named)
  const gone = { id: idOf('resp', id), object: 'response' as const, deleted: true as const }
  if (status === 'queued' && (await deps.host.dequeue(sessionId, id))) return gone
  const deleted = await deleteReply(deps.sql, sessionId, id)
  if (deleted === 'not_found') missing('response')
  if (deleted === 'busy')
    throw new HttpError(409, 'The response runs, or its session is being compacted: wait, or cancel it first.', noRetry)
  if (deleted === 'followed') throw new HttpError(409, 'Other messages follow this response.', noRetry)
  return gone
}

async function listInputItems(deps: ResponseDependencies, named: Named, query: ItemQuery) {
  const stored = await findOwn(deps, named)
  const items = await inputItemsOf(deps.sql, stored)
  return await listOfItems(orderOf(query) === 'asc' ? items : items.toReversed(), query)
}

const responseHandlers = (deps: ResponseDependencies) => {
  const namedBy = ({ agent_id, response_id }: { agent_id: string; response_id: string }, caller: Caller): Named => ({
    agentId: agent_id,
    responseId: response_id,
    caller,
  })
  return {
    createResponse: ({ params, body, ...exchange }) => createResponse(deps, params.agent_id, body, exchange),
    getResponse: ({ params, query, ...exchange }) =>
      readResponse(deps, namedBy(params, exchange.caller), query, exchange),
    deleteResponse: ({ params, caller }) => deleteResponse(deps, namedBy(params, caller)),
    cancelResponse: ({ params, caller }) => cancelResponse(deps, namedBy(params, caller)),
    listResponseInputItems: ({ params, query, caller }) => listInputItems(deps, namedBy(params, caller), query),
  } satisfies DeployHandlers<'responses'>
}

const agentResponseHandlers = (deps: ResponseDependencies) => {
  const namedBy = ({ response_id }: { response_id: string }, caller: Caller): Named => ({
    agentId: null,
    responseId: response_id,
    caller,
  })
  return {
    createAgentResponse: async ({ body, ...exchange }) => {
      const agentId = await agentNamed(deps.sql, body.model, exchange.caller)
      return await createResponse(deps, agentId, body, exchange)
    },
    getAgentResponse: ({ params, query, ...exchange }) =>
      readResponse(deps, namedBy(params, exchange.caller), query, exchange),
    deleteAgentResponse: ({ params, caller }) => deleteResponse(deps, namedBy(params, caller)),
    cancelAgentResponse: ({ params, caller }) => cancelResponse(deps, namedBy(params, caller)),
    listAgentResponseInputItems: ({ params, query, caller }) => listInputItems(deps, namedBy(params, caller), query),
  } satisfies DeployHandlers<'agentResponses'>
}

/** All of the API, below an agent and below `/api/v1/openai`. */
export function mountResponses(deploy: FastifyInstance, deps: ResponseDependencies): void {
  mountDeploy(deploy, responses, responseHandlers(deps))
  mountDeploy(deploy, agentResponses, agentResponseHandlers(deps))
  mountDeploy(deploy, conversations, conversationHandlers(deps))
  mountDeploy(deploy, agentConversations, agentConversationHandlers(deps))
}
