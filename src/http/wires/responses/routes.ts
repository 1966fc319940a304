/**
 * The Responses API over deploy sessions (contract section 24). The agent is named by the path, by `model` or by an id.
 */

import type { FastifyInstance } from 'fastify'
import { agentResponses, responses } from '../../../../openapi/operations/deploy/responses.ts'
import type { Caller } from '../../../features/users/index.ts'
import { noRetry } from '../../sending/refusals.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import { lastEventId } from '../../streaming/reply-stream.ts'
import { agentNamed } from '../chat/models.ts'
import { mountDeploy } from '../chat/scope.ts'
import { queuedResponse, storedResponse, streamEvents } from './answer.ts'
import { compactResponse } from './compact.ts'
import { mountConversations } from './conversations.ts'
import { createResponse } from './create.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { reaches } from './input/named-place.ts'
import { countInput } from './input-tokens.ts'
import { idOf, uuidIn } from './output/ids.ts'
import { type ItemQuery, listOfItems, orderOf } from './output/item-list.ts'
import { inputItemsOf } from './output/stored-items.ts'
import { deleteReply } from './store/delete-reply.ts'
import type { StoredResponse } from './store/stored-responses.ts'
import { findResponse, forgetDequeued, noteDequeued } from './store/stored-responses.ts'
import { nameUnusedQuery } from './unused-query.ts'

interface Named {
  /** The parameters of the path. Below `/api/v1/openai` it names no agent: the response may belong to any agent. */
  params: { agent_id?: string; response_id: string }
  caller: Caller
}

/** Finds a response of the caller's. Throws 404. */
async function findOwn({ sql }: ResponseDependencies, { params, caller }: Named): Promise<StoredResponse> {
  const uuid = uuidIn(params.response_id)
  const stored = uuid === null ? null : await findResponse(sql, uuid)
  return stored !== null && reaches({ caller, agentId: params.agent_id }, stored) ? stored : missing('response')
}

interface ReadQuery {
  stream?: string | undefined
  starting_after?: number | undefined
}

async function readResponse(
  deps: ResponseDependencies,
  { query, request, reply, ...named }: Named & Exchange & { query: ReadQuery },
) {
  const stored = await findOwn(deps, named)
  nameUnusedQuery(request, reply)
  const { stream, starting_after: after } = query
  if (stream !== 'true') return await storedResponse(deps.sql, stored)
  const header = request.headers['last-event-id']
  const last = header === undefined || header === '' ? -1 : lastEventId(header)
  const source =
    stored.status === 'queued'
      ? deps.queue.queued({ replyId: stored.id, sessionId: stored.sessionId, position: 0 })
      : ((await deps.host.open(stored.id)) ?? missing('response'))
  const find = async () => (await findResponse(deps.sql, stored.id)) ?? missing('response')
  await streamEvents(reply, { source, find, after: after ?? last })
  return undefined
}

async function cancelResponse(deps: ResponseDependencies, named: Named) {
  let stored = await findOwn(deps, named)
  if (stored.status === 'queued') {
    await noteDequeued(deps.sql, stored)
    // Of two cancels one takes it out; where neither does, it has started in the meantime.
    if (!(await deps.queue.dequeue(stored.sessionId, stored.id))) {
      stored = await findOwn(deps, named)
      if (stored.status !== 'dequeued') await forgetDequeued(deps.sql, stored.id)
    } else return queuedResponse(stored, 'cancelled')
  }
  if (stored.status === 'streaming') await deps.host.cancel(stored.sessionId, { only: stored.id })
  return await storedResponse(deps.sql, stored)
}

async function deleteResponse(deps: ResponseDependencies, named: Named) {
  const { id, sessionId, status } = await findOwn(deps, named)
  const gone = { id: idOf('resp', id), object: 'response' as const, deleted: true as const }
  if (status === 'queued' && (await deps.queue.dequeue(sessionId, id))) return gone
  if (status === 'dequeued') {
    await forgetDequeued(deps.sql, id)
    return gone
  }
  const deleted = await deleteReply(deps.sql, sessionId, id)
  if (deleted === 'not_found') missing('response')
  if (deleted === 'busy')
    throw new HttpError(409, 'The response runs, or its session is being compacted: wait, or cancel it first.', noRetry)
  if (deleted === 'followed') throw new HttpError(409, 'Other messages follow this response.', noRetry)
  return gone
}

async function listInputItems(deps: ResponseDependencies, { query, ...named }: Named & { query: ItemQuery }) {
  const stored = await findOwn(deps, named)
  const items = await inputItemsOf(deps.sql, stored)
  return await listOfItems(orderOf(query) === 'asc' ? items : items.toReversed(), query)
}

/** Mounts the whole API, below an agent and below `/api/v1/openai`. */
export function mountResponses(deploy: FastifyInstance, deps: ResponseDependencies): void {
  const get = (input: Parameters<typeof readResponse>[1]) => readResponse(deps, input)
  const remove = (named: Named) => deleteResponse(deps, named)
  const cancel = (named: Named) => cancelResponse(deps, named)
  const listItems = (input: Parameters<typeof listInputItems>[1]) => listInputItems(deps, input)
  mountDeploy(deploy, responses, {
    createResponse: ({ params, body, ...exchange }) => createResponse(deps, params.agent_id, body, exchange),
    countResponseInput: ({ params, body, ...exchange }) => countInput(deps, params.agent_id, body, exchange),
    compactResponse: ({ params, body, ...exchange }) => compactResponse(deps, params.agent_id, body, exchange),
    getResponse: get,
    deleteResponse: remove,
    cancelResponse: cancel,
    listResponseInputItems: listItems,
  })
  mountDeploy(deploy, agentResponses, {
    createAgentResponse: async ({ body, ...exchange }) =>
      createResponse(deps, await agentNamed(deps.sql, body.model, exchange.caller), body, exchange),
    countAgentResponseInput: async ({ body, ...exchange }) =>
      countInput(deps, await agentNamed(deps.sql, body.model, exchange.caller), body, exchange),
    compactAgentResponse: async ({ body, ...exchange }) =>
      compactResponse(deps, await agentNamed(deps.sql, body.model, exchange.caller), body, exchange),
    getAgentResponse: get,
    deleteAgentResponse: remove,
    cancelAgentResponse: cancel,
    listAgentResponseInputItems: listItems,
  })
  mountConversations(deploy, deps)
}
