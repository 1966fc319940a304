/** Sessions as OpenAI's conversations (contract section 24). */
import type { FastifyInstance } from 'fastify'
import type { components } from '../../../../openapi/generated/schema.ts'
import { agentConversations, conversations } from '../../../../openapi/operations/deploy/conversations.ts'
import { deriveTitle } from '../../../actors/history/title.ts'
import { makeSession } from '../../../features/branches/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { asCountedRequest } from '../../../features/limits/index.ts'
import { prepareParts, requireUploads } from '../../../features/parts/index.ts'
import { changeSession, deleteSession } from '../../../features/sessions/index.ts'
import { agentsOf, type Caller, callerLimits, refuseUsedMetadata, userOf } from '../../../features/users/index.ts'
import { firstAgents } from '../../../persistence/records/agent-models.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { refuseUnwanted } from '../../sending/caller-instructions.ts'
import { changed } from '../../sending/refusals.ts'
import { badRequest, HttpError, missing } from '../../server/http-error.ts'
import { agentNamed } from '../chat/models.ts'
import { mountDeploy } from '../chat/scope.ts'
import { giveItems, readItem, takeItem } from './conversation-items.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { givenWithParts, partsIn } from './input/given-parts.ts'
import { conversationOf, historyOf } from './input/history-items.ts'
import { readInput } from './input/input-items.ts'
import { reaches } from './input/named-place.ts'
import { instructionsIn } from './input/request-fields.ts'
import { openSummary } from './input/sealed-summary.ts'
import { idOf, uuidIn } from './output/ids.ts'
import { type ItemQuery, listOfItems, orderOf } from './output/item-list.ts'
import { conversationItems } from './output/stored-items.ts'
import { findConversation, type StoredConversation } from './store/stored-responses.ts'
import { forgetUnclaimed, type UnclaimedConversation } from './store/unclaimed.ts'
import { createOfNoAgent, findOfNoAgent, ofNoAgent } from './unclaimed-conversations.ts'
import { nameUnusedQuery } from './unused-query.ts'

interface Named {
  /** The parameters of the path. Below `/api/v1/openai` it names no agent: the conversation may belong to any agent. */
  params: { agent_id?: string; conversation_id: string }
  caller: Caller
}

const wire = ({ id, created, metadata }: Pick<StoredConversation, 'id' | 'created' | 'metadata'>) => ({
  id: idOf('conv', id),
  object: 'conversation' as const,
  created_at: created,
  metadata,
})

/** Finds a conversation of the caller's, which below `/api/v1/openai` may have no agent yet. Throws 404. */
async function findOwn(
  deps: ResponseDependencies,
  { params, caller }: Named,
): Promise<StoredConversation | UnclaimedConversation> {
  const uuid = uuidIn(params.conversation_id) ?? missing('conversation')
  const found = await findConversation(deps.sql, uuid)
  if (found !== null && reaches({ caller, agentId: params.agent_id }, { ...found, sessionId: uuid })) return found
  const unclaimed = params.agent_id === undefined ? await findOfNoAgent(deps, caller, uuid) : null
  return unclaimed ?? missing('conversation')
}

async function create(
  deps: ResponseDependencies,
  agentId: string,
  { items, metadata }: components['schemas']['ConversationCreate'],
  { caller, request, reply }: Exchange,
) {
  const isSecret = caller.kind === 'secret'
  const given: unknown = items ?? []
  if (!Array.isArray(given)) return badRequest('items: must be an array of items')
  const isEmpty = given.length === 0
  if (isSecret && caller.sessionId !== null) {
    throw new HttpError(403, 'This client secret opens one session alone: it neither makes nor lists any.')
  }
  if (isSecret && !isEmpty) throw new HttpError(403, 'items: a history is given with the deploy key')
  if (isSecret) await refuseUsedMetadata(deps, agentId, metadata ?? {}, async () => ({}))
  const sent = isEmpty ? [] : readInput(given, requireUploads(request), 'items')
  const { summary, items: read } = openSummary(deps, agentId, sent, { isStored: false })
  if (read.some(({ kind }) => kind === 'instructions')) {
    const agent = await loadAgent(deps, agentId)
    refuseUnwanted(agent, instructionsIn(read, {}, { agent, caller }))
  }
  const user = userOf(caller)
  const history = historyOf(conversationOf(read, 'items'), 'items')
  const brought = partsIn(history)
  const prepared = await prepareParts(deps, brought, {
    uploads: requireUploads(request),
    find: ownFiles(deps.sql, caller, agentId),
    owner: { agentId, sessionId: null, user },
    earlier: brought.length,
  })
  const { messages, parts } = givenWithParts(history, prepared)
  const wanted = { user, metadata, messages, ...(summary && { summary }) }
  const make = () => makeSession(deps, agentId, wanted, { secretNumber: isSecret ? caller.number : null })
  const limited = { user, counted: callerLimits(caller, reply) }
  try {
    await parts?.store()
    const made = isSecret
      ? await asCountedRequest(deps, { ...limited, agent: await loadAgent(deps, agentId) }, make)
      : await make()
    return wire({ ...made, created: Math.floor(Date.parse(made.createdAt) / 1000) })
  } finally {
    parts?.over()
  }
}

async function update(
  deps: ResponseDependencies,
  { body: { metadata }, ...named }: Named & { body: components['schemas']['ConversationChange'] },
) {
  const found = await findOwn(deps, named)
  if (!('agentId' in found)) return wire(await ofNoAgent(deps).update(found, metadata))
  const { agentId, id, created } = found
  const bySecret = named.caller.kind === 'secret'
  if (bySecret) {
    await refuseUsedMetadata(deps, agentId, metadata ?? {}, async () => found.metadata, id)
  }
  const changes = { metadata, bySecret }
  const session = changed(
    await changeSession(deps.sql, agentId, id, changes, deriveTitle, deps.storage),
    'conversation',
  )
  return wire({ id, created, metadata: session.metadata })
}

async function remove(deps: ResponseDependencies, named: Named) {
  const found = await findOwn(deps, named)
  const { id } = found
  if ('agentId' in found) {
    const { owners } = (await deleteSession(deps.sql, found.agentId, id)) ?? missing('conversation')
    deps.host.forget([id], owners)
  } else await forgetUnclaimed(deps.sql, id)
  return { id: idOf('conv', id), object: 'conversation.deleted' as const, deleted: true as const }
}

async function listItems(deps: ResponseDependencies, { query, ...named }: Named & { query: ItemQuery }) {
  const found = await findOwn(deps, named)
  if (!('agentId' in found)) return await ofNoAgent(deps).list(found, query)
  const { agentId, id } = found
  return await listOfItems(conversationItems(deps.sql, { agentId, sessionId: id }, orderOf(query)), query)
}

interface NamedItem extends Named {
  params: Named['params'] & { item_id: string }
}

type AgentCreate = components['schemas']['AgentConversationCreate']

/**
 * Makes a conversation below `/api/v1/openai`. The official clients have no `model` there: then it is of the only agent that
 * the caller has, or of none until its first response.
 */
async function createBelowOpenai(deps: ResponseDependencies, { model, ...body }: AgentCreate, exchange: Exchange) {
  const { caller } = exchange
  if (model !== undefined) return await create(deps, await agentNamed(deps.sql, model, caller), body, exchange)
  const [only, another] = agentsOf(caller) ?? (await firstAgents(deps.sql))
  if (only !== undefined && another === undefined) return await create(deps, only, body, exchange)
  if (agentsOf(caller) === null) return wire(await createOfNoAgent(deps, body, exchange))
  return badRequest('model: is required, since the key is of several agents')
}

/** Mounts conversations below an agent and below `/api/v1/openai`. */
export function mountConversations(deploy: FastifyInstance, deps: ResponseDependencies): void {
  const get = async (named: Named) => wire(await findOwn(deps, named))
  const change = (input: Parameters<typeof update>[1]) => update(deps, input)
  const erase = (named: Named) => remove(deps, named)
  const list = (input: Parameters<typeof listItems>[1]) => listItems(deps, input)
  const give = async (input: Named & Exchange & { body: components['schemas']['ConversationItemsCreate'] }) => {
    const found = await findOwn(deps, input)
    nameUnusedQuery(input.request, input.reply)
    const { body } = input
    return 'agentId' in found
      ? await giveItems(deps, found, body, input)
      : await ofNoAgent(deps).give(found, body, input)
  }
  const getItem = async (input: NamedItem & Exchange) => {
    const found = await findOwn(deps, input)
    nameUnusedQuery(input.request, input.reply)
    const { item_id: id } = input.params
    return 'agentId' in found ? await readItem(deps, found, id) : ofNoAgent(deps).getItem(found, id)
  }
  const takeBack = async (input: NamedItem) => {
    const found = await findOwn(deps, input)
    const { item_id: id } = input.params
    if ('agentId' in found) await takeItem(deps, found, id)
    else await ofNoAgent(deps).takeBack(found, id)
    return wire(found)
  }
  mountDeploy(deploy, conversations, {
    createConversation: ({ params, body, ...exchange }) => create(deps, params.agent_id, body, exchange),
    getConversation: get,
    updateConversation: change,
    deleteConversation: erase,
    listConversationItems: list,
    createConversationItems: give,
    getConversationItem: getItem,
    deleteConversationItem: takeBack,
  })
  mountDeploy(deploy, agentConversations, {
    createAgentConversation: ({ body, ...exchange }) => createBelowOpenai(deps, body, exchange),
    getAgentConversation: get,
    updateAgentConversation: change,
    deleteAgentConversation: erase,
    listAgentConversationItems: list,
    createAgentConversationItems: give,
    getAgentConversationItem: getItem,
    deleteAgentConversationItem: takeBack,
  })
}
