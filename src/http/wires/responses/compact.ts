/** Handler of `POST …/responses/compact` (contract section 32): of a stored conversation, or of one that the caller keeps. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { ResponseCompact } from '../../../../openapi/schemas/deploy/responses.ts'
import type { Conversation } from '../../../actors/history/conversation.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import type { Usage } from '../../../actors/reply/reply-event.ts'
import { compactNow, summariseNow } from '../../../features/compaction/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { findAllStored, loadMessages, mediaTypesOf, partsIn, requireUploads } from '../../../features/parts/index.ts'
import { callerLimits, callerName } from '../../../features/users/index.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import { textOfInstructions } from '../../sending/caller-instructions.ts'
import { noRetry } from '../../sending/refusals.ts'
import { badRequest, HttpError, missing } from '../../server/http-error.ts'
import { restingGiven } from '../shared/given-conversation.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { foreignIn } from './input/foreign-items.ts'
import { conversationOf } from './input/history-items.ts'
import { type InputItem, readInput } from './input/input-items.ts'
import { placesNamed } from './input/named-place.ts'
import { instructionsIn } from './input/request-fields.ts'
import { openSummary, sealSummary } from './input/sealed-summary.ts'
import { idOf, uuidIn } from './output/ids.ts'
import { usageOf } from './output/response-object.ts'
import { itemsOf } from './output/stored-items.ts'
import { readTurns, type StoredTurn } from './store/stored-inputs.ts'

type Body = components['schemas']['ResponseCompact']

const known = new Set([...Object.keys(ResponseCompact.properties), 'model'])

export async function compactResponse(deps: ResponseDependencies, agentId: string, body: Body, exchange: Exchange) {
  const agent = await loadAgent(deps, agentId)
  const { previous_response_id: previous, input } = body
  nameIgnored(exchange.reply, { ...body, ...foreignIn(input) }, known)
  if (input != null) {
    if (previous != null) badRequest('input: cannot stand beside previous_response_id')
    return await compactInput(deps, agent, body, exchange)
  }
  if (previous == null) return badRequest('previous_response_id: is required, or input')
  return await compactStored(deps, agent, { ...body, previous_response_id: previous }, exchange)
}

async function compactStored(
  deps: ResponseDependencies,
  agent: AgentForCompletion,
  { previous_response_id: previous, instructions }: Body & { previous_response_id: string },
  { caller, request, reply }: Exchange,
) {
  const wanted = instructions == null ? {} : { instructions }
  const appended = textOfInstructions(agent, instructionsIn([], wanted, { agent, caller }), 'responses')
  const { named } = await placesNamed(deps.sql, { agentId: agent.id, caller }, { previous_response_id: previous })
  const place = named ?? missing('response')
  const { value: head } = await readTurns(deps.sql, place.sessionId, 'desc').next()
  if (head?.id !== uuidIn(previous)) throw new HttpError(409, 'Other messages follow this response.', noRetry)
  const session = { agent_id: agent.id, session_id: place.sessionId }
  const { id, throughMessageId, usage, createdAt, summary, model } = await compactNow(
    deps,
    session,
    request,
    callerLimits(caller, reply),
    appended,
  )
  const behind: StoredTurn[] = []
  for await (const turn of readTurns(deps.sql, place.sessionId, 'desc')) {
    if (turn.id === throughMessageId) break
    behind.unshift(turn)
  }
  const items = behind.flatMap((turn) => itemsOf(turn, { agentId: agent.id, sessionId: place.sessionId }))
  const sealed = sealSummary(deps, agent.id, { head: head.id, text: summary, model })
  return answer({ id, sealed, items, usage, createdAt })
}

/** Summarises a conversation that the caller keeps. Nothing is stored. */
async function compactInput(
  deps: ResponseDependencies,
  agent: AgentForCompletion,
  { input, instructions }: Body,
  { caller, request, reply }: Exchange,
) {
  if (caller.kind === 'secret') {
    throw new HttpError(403, 'input: a client secret has stored conversations summarised alone')
  }
  const uploads = requireUploads(request)
  const given = readInput(input, uploads)
  const { summary, items } = openSummary(deps, agent.id, given, { isStored: false })
  const wanted = instructions == null ? {} : { instructions }
  const appended = textOfInstructions(agent, instructionsIn(items, wanted, { agent, caller }), 'responses')
  const sent = await findAllStored(conversationOf(items), ownFiles(deps.sql, caller, agent.id))
  const conversation = restingGiven(
    await loadMessages(deps, sent, { uploads, of: callerName(caller) }),
    summary?.text ?? null,
  )
  const id = newId()
  const mediaTypes = mediaTypesOf(partsIn(sent))
  const counted = callerLimits(caller, reply)
  const made = await summariseNow(deps, agent, { id, conversation, user: null, request, mediaTypes, counted, appended })
  const sealed = sealSummary(deps, agent.id, { head: null, text: made.text, model: made.model })
  const behind = behindTurns(conversation.turns, made.covered, items)
  const kept: unknown[] = behind === null || !Array.isArray(input) ? [] : input.slice(given.indexOf(behind))
  return answer({
    id,
    sealed,
    items: kept.filter(isObject).map(itemAsSent),
    usage: made.usage,
    createdAt: new Date().toISOString(),
  })
}

/** Returns the first item behind so many turns. Each begins with a message of the user, but for the first, which may not. */
function behindTurns(turns: Conversation['turns'], covered: number, items: readonly InputItem[]): InputItem | null {
  const before = turns.slice(0, covered).filter(({ sent }) => sent[0]?.role === 'user').length
  return items.filter(({ kind }) => kind === 'user')[before] ?? null
}

/** Returns an item as it was sent, with the fields that all items have. */
const itemAsSent = ({ id, type, ...fields }: Record<string, unknown>): components['schemas']['ResponseItem'] => ({
  ...fields,
  id: typeof id === 'string' ? id : idOf('msg', newId()),
  type: typeof type === 'string' ? type : 'message',
})

interface Answered {
  id: string
  sealed: string
  /** The items that the summary does not cover. */
  items: readonly components['schemas']['ResponseItem'][]
  usage: Usage
  createdAt: string
}

function answer({ id, sealed, items, usage, createdAt }: Answered) {
  const compaction = { id: idOf('cmp', id), type: 'compaction', encrypted_content: sealed }
  return {
    id: idOf('resp', id),
    object: 'response.compaction' as const,
    created_at: Math.floor(Date.parse(createdAt) / 1000),
    output: [compaction, ...items],
    usage: usageOf(usage),
  }
}
