/**
 * Handler of `POST …/responses` (contract section 24). It starts a session, sends the next message of one, sends
 * decisions, or stores nothing.
 */
import type { components } from '../../../../openapi/generated/schema.ts'
import type { Chain, GivenMessage, GivenSummary, SessionToMake } from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { nothingInForce } from '../../../actors/reply/start-reply.ts'
import type { Sent } from '../../../actors/session/host.ts'
import { sendDecisions } from '../../../features/approvals/index.ts'
import { titleFrom } from '../../../features/branches/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { prepareParts, requireUploads, type SentMessage, type Uploads } from '../../../features/parts/index.ts'
import { replyIdOf, sentAnswer } from '../../../features/queue/index.ts'
import { type Caller, callerLimits, refuseUsedMetadata, userOf } from '../../../features/users/index.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import type { Instructions } from '../../sending/caller-instructions.ts'
import type { MessageInput } from '../../sending/message-input.ts'
import { fewerCalls } from '../../sending/overrides.ts'
import { hashOf, idempotencyOf, isRetry } from '../../sending/request-options.ts'
import { releasePartsAfter, sendFrom, sendWithFreshAgent } from '../../sending/send-message.ts'
import { sessionOfKey } from '../../sending/session-of-key.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import { originOf } from '../../server/observe-requests.ts'
import { afterStored, connectionSignal, onceLeft } from '../../streaming/reply-stream.ts'
import { storedResponse, streamEvents, wholeResponse } from './answer.ts'
import { sendInCopy } from './copies.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { givenWithParts, partsIn } from './input/given-parts.ts'
import { beginningOf } from './input/history-items.ts'
import { type InputItem, readInput } from './input/input-items.ts'
import { withCuts } from './input/message-cuts.ts'
import { placeOf } from './input/place.ts'
import {
  ignoredIn,
  instructionsIn,
  type RequestFields,
  readFields,
  renamingFieldsInErrors,
} from './input/request-fields.ts'
import { openSummary, refuseBehindPlace } from './input/sealed-summary.ts'
import type { ResponseObject } from './output/response-object.ts'
import { answerStatelessly } from './stateless.ts'
import { messagePlace } from './store/places.ts'
import { findResponse, firstReplyOf } from './store/stored-responses.ts'
import { claimConversation } from './unclaimed-conversations.ts'

type Body = components['schemas']['ResponseRequestBody']

export async function createResponse(
  deps: ResponseDependencies,
  agentId: string,
  body: Body,
  exchange: Exchange,
): Promise<ResponseObject | undefined> {
  const { reply } = exchange
  const agent = await loadAgent(deps, agentId)
  nameIgnored(reply, ...ignoredIn(body))
  if (body.store === false) return await answerStatelessly(deps, agent, body, exchange)
  return await renamingFieldsInErrors(async () => {
    const uploads = requireUploads(exchange.request)
    const wanted = readFields(body, agent)
    const { summary, items } = openSummary(deps, agentId, readInput(body.input, uploads), { isStored: true })
    refuseBehindPlace(summary, body)
    const instructions = instructionsIn(items, wanted.response, { agent, caller: exchange.caller })
    const sent = await send(deps, { agentId, agent, body, exchange, wanted, instructions, items, summary, uploads })
    const { source, onLeft: requesterLost } = sentAnswer(sent, reply)
    const find = async () => (await findResponse(deps.sql, replyIdOf(source))) ?? missing('response')
    const isBackground = body.background === true
    if (body.stream === true) {
      await streamEvents(reply, { source, find, after: -1 }, isBackground ? undefined : requesterLost)
      return undefined
    }
    if (!isBackground) return await wholeResponse(reply, { source, find }, requesterLost)
    onceLeft(connectionSignal(reply), requesterLost)
    return await afterStored(requesterLost, async () =>
      storedResponse(deps.sql, await find(), { asBegun: sent.outcome !== 'joined' }),
    )
  })
}

export interface Sending {
  agentId: string
  agent: AgentForCompletion
  body: Body
  exchange: Exchange
  wanted: RequestFields
  /** The instructions of the request. Null without any. */
  instructions: Instructions | null
  items: readonly InputItem[]
  /** The summary that a new session begins with. Null when it begins with the items. */
  summary: GivenSummary | null
  uploads: Uploads
}

async function send(deps: ResponseDependencies, sending: Sending): Promise<Sent> {
  const { agentId, body, exchange, items, wanted } = sending
  const { caller } = exchange
  const by = { agentId, caller }
  const claim = (conversation: string) => claimConversation(deps, by, conversation)
  const placed = await placeOf(deps.sql, { ...by, claim }, body, items)
  if (placed.kind === 'new') return await sendFirst(deps, sending)
  const message = { ...baseOf(sending), sessionId: placed.place.sessionId, user: userOf(caller) }
  if (placed.kind === 'decisions') {
    const parts = await partsOf(deps, placed, sending, message)
    const decisions = { ...placed.decisions, parts: parts?.identities }
    return await sendDecisions(deps.sql, exchange.request, { ...message, decisions }, (decided) =>
      sendFrom(deps, agentId, decided, parts),
    )
  }
  const parts = await partsOf(deps, placed.message, sending, message)
  const { answers, place } = placed
  const { text, cuts } = placed.message
  const response = withCuts(wanted.response, cuts)
  const input = { ...message, text, answers, place: messagePlace(place), response }
  return await releasePartsAfter(parts, async () => {
    const sent = await sendWithFreshAgent(deps, agentId, input, parts)
    return sent.outcome === 'busy' ? ((await sendInCopy(deps, sending, place, { input, parts })) ?? sent) : sent
  })
}

const baseOf = ({ agent, body, exchange: { caller, request, reply }, wanted, instructions }: Sending) => ({
  instructions,
  by: userOf(caller),
  includeUsage: false,
  reasoning: true,
  idempotency: idempotencyOf(request, heldTo(body)),
  isRetry: isRetry(request),
  onBusy: body.on_busy ?? 'reject',
  origin: originOf(request),
  counted: callerLimits(caller, reply),
  ...fieldsFor(agent, wanted),
})

const fieldsFor = (agent: AgentForCompletion, { maxToolCalls, ...wanted }: RequestFields) => ({
  ...wanted,
  overrides: fewerCalls(agent, maxToolCalls),
})

/** Returns the part of a body that its key is held to: `stream` changes no answer. */
const heldTo = ({ stream: _, ...body }: Body) => body

const partsOf = (
  deps: ResponseDependencies,
  { parts }: Pick<SentMessage, 'parts'>,
  { agentId, uploads, exchange: { caller } }: Sending,
  { earlier = 0, ...of }: { sessionId: string; user: string | null; earlier?: number },
) =>
  prepareParts(deps, parts, { uploads, find: ownFiles(deps.sql, caller, agentId), owner: { agentId, ...of }, earlier })

/** Sends the first message of a new session, which is created with it. */
async function sendFirst(deps: ResponseDependencies, sending: Sending): Promise<Sent> {
  const { agentId, body, exchange, items, summary } = sending
  const { caller } = exchange
  const beginning = beginningOf(items)
  const { history, message } = beginning
  const user = ownerOf(body, caller)
  if (caller.kind === 'secret' && caller.sessionId !== null) {
    throw new HttpError(403, 'This client secret opens one session alone: it neither makes nor lists any.')
  }
  if (caller.kind === 'secret' && (history.length > 0 || summary !== null)) {
    throw new HttpError(403, 'input: a history is given with the deploy key')
  }
  if (caller.kind === 'secret') await refuseUsedMetadata(deps, agentId, body.metadata ?? {}, async () => ({}))
  const secretNumber = caller.kind === 'secret' ? caller.number : null
  const ownFields = baseOf(sending)
  const given = history.length === 0 ? {} : { given: history.length }
  const cuts = { messages: [], texts: message?.joins ?? [] }
  const base = { ...ownFields, response: withCuts({ ...ownFields.response, ...given }, cuts) }
  // Requests without a user come from many people. Two of them may begin with the same words, so none joins another.
  const madeBy = user === null ? undefined : hashIn(body, exchange)
  const { id: sessionId, isMade } =
    base.idempotency === null
      ? { id: newId(), isMade: false }
      : await sessionOfKey(deps.sql, deps.sessionSecrets, { agentId, user, key: base.idempotency.key })
  // A retry with another key than its first request: proxies give each request without a key a new one (nginx.conf).
  if (base.isRetry && !isMade && user !== null && madeBy !== undefined) {
    const first = await firstReplyOf(deps.sql, { agentId, user, madeBy })
    const reply = first === null ? null : await deps.host.open(first)
    if (reply !== null) return { outcome: 'joined', reply }
  }
  const before = partsIn(history)
  const brought = { text: message?.text ?? '', parts: [...before, ...(message?.parts ?? [])] }
  const prepared = await partsOf(deps, brought, sending, { sessionId, user, earlier: before.length })
  const { messages, parts } = givenWithParts(history, prepared)
  const makeSession = { externalId: null, secretNumber, ...beginsWith(messages, body.metadata ?? {}, summary) }
  if (message === null) {
    const input = continuingFirst({ ...base, sessionId, user, madeBy, makeSession }, beginning)
    return await sendFrom(deps, agentId, input, parts)
  }
  const input: MessageInput = { ...base, sessionId, user, text: message.text, madeBy }
  return await sendFrom(deps, agentId, { ...input, makeSession }, parts)
}

/** Returns the input of a first reply that goes on from the last given message, whose calls have their results. */
function continuingFirst(
  input: Omit<MessageInput, 'text' | 'onBusy'> & { makeSession: SessionToMake },
  { chain, firstId }: { chain: Chain; firstId: string },
): MessageInput {
  const carried = { ...nothingInForce, chain, firstId }
  const { begins } = input.makeSession
  return {
    ...input,
    text: '',
    onBusy: 'reject',
    makeSession: { ...input.makeSession, ...(begins && { begins: { ...begins, carried } }) },
    decisions: {
      calls: [],
      wait: { replyId: firstId, pending: [], decided: [], carried, user: null, waitedMs: 0 },
      bySecret: false,
      asMessages: false,
      inPart: false,
      decides: [],
    },
  }
}

const hashIn = (body: Body, { request }: Exchange): string =>
  hashOf(heldTo(body), request.uploads?.named).toString('hex')

function beginsWith(
  messages: GivenMessage[],
  metadata: Record<string, string>,
  summary: GivenSummary | null,
): Pick<SessionToMake, 'begins'> {
  const isEmpty = messages.length === 0 && Object.keys(metadata).length === 0 && summary === null
  return isEmpty ? {} : { begins: { title: titleFrom(messages), metadata, messages, ...(summary && { summary }) } }
}

function ownerOf(body: Body, caller: Caller): string | null {
  const named = body.safety_identifier ?? body.user ?? null
  if (caller.kind === 'secret' && named !== null && named !== caller.user) {
    throw new HttpError(403, 'safety_identifier: a client secret makes sessions of its own user')
  }
  return userOf(caller) ?? named
}
