/** The Responses API over deploy sessions (contract section 24), below an agent and where `model` or an id names it. */

import type { StoredResponse } from '../../../persistence/replies/reading/stored-responses.ts'
import { findResponse } from '../../../persistence/replies/reading/stored-responses.ts'
import { missing } from '../../server/http-error.ts'
import { lastEventId } from '../../streaming/reply-stream.ts'
import { type Caller, opens, opensAgent } from '../access/caller.ts'
import { agentNamed } from '../models.ts'
import type { DeployHandlers } from '../scope.ts'
import { storedResponse, streamEvents } from './answer.ts'
import { createResponse } from './create.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { uuidIn } from './ids.ts'
import { type ItemQuery, listOfItems } from './item-list.ts'
import { inputItemsOf } from './stored-items.ts'

interface Named {
  /** Null: any agent's. */
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
  const found = (await deps.host.open(stored.id)) ?? missing('response')
  await streamEvents(reply, { reply: found, stored, after: after ?? last })
  return undefined
}

async function cancelResponse(deps: ResponseDependencies, named: Named) {
  const stored = await findOwn(deps, named)
  if (stored.status === 'streaming') await deps.host.cancel(stored.sessionId)
  return await storedResponse(deps.sql, stored)
}

async function listInputItems(deps: ResponseDependencies, named: Named, query: ItemQuery) {
  const stored = await findOwn(deps, named)
  return listOfItems(await inputItemsOf(deps.sql, stored), query)
}

export const responseHandlers = (deps: ResponseDependencies) => {
  const namedBy = ({ agent_id, response_id }: { agent_id: string; response_id: string }, caller: Caller): Named => ({
    agentId: agent_id,
    responseId: response_id,
    caller,
  })
  return {
    createResponse: ({ params, body, ...exchange }) => createResponse(deps, params.agent_id, body, exchange),
    getResponse: ({ params, query, ...exchange }) =>
      readResponse(deps, namedBy(params, exchange.caller), query, exchange),
    cancelResponse: ({ params, caller }) => cancelResponse(deps, namedBy(params, caller)),
    listResponseInputItems: ({ params, query, caller }) => listInputItems(deps, namedBy(params, caller), query),
  } satisfies DeployHandlers<'responses'>
}

export const agentResponseHandlers = (deps: ResponseDependencies) => {
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
    cancelAgentResponse: ({ params, caller }) => cancelResponse(deps, namedBy(params, caller)),
    listAgentResponseInputItems: ({ params, query, caller }) => listInputItems(deps, namedBy(params, caller), query),
  } satisfies DeployHandlers<'agentResponses'>
}
