/**
 * The place of a request in a session, and the items of its input that are new there (contract section 24). Throws 400,
 * 404 and 409.
 */

import type { CallAnswer, DecidedCall, MessagePlace } from '../../../actors/ports/index.ts'
import { answersAmong, awaitedAt, findWait, type GivenDecisions, type Wait } from '../../../features/approvals/index.ts'
import type { SentMessage } from '../../../features/parts/index.ts'
import { type Caller, opens, ownSession, userOf } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { noRetry } from '../../sending/refusals.ts'
import { badRequest, CodedError, HttpError, missing } from '../../server/http-error.ts'
import { callUuid, type ReplyIds, replyHalf, replyIds, replyRange, uuidIn } from './ids.ts'
import type { InputItem } from './input-items.ts'
import { findReplies, findResponse, type ReplyPlace } from './store/stored-responses.ts'

/** The caller and the agent of a request. */
export interface By {
  agentId: string
  caller: Caller
}

export interface NamedPlace {
  conversation?: unknown
  previous_response_id?: unknown
  on_busy?: unknown
}

export type Placed =
  /** A request that continues no session. */
  | { kind: 'new' }
  | { kind: 'message'; sessionId: string; place: MessagePlace | undefined; message: SentMessage; answers: CallAnswer[] }
  | { kind: 'decisions'; sessionId: string; decisions: GivenDecisions }

type Answer = Extract<InputItem, { kind: 'output' | 'approval' }>

const isAnswer = (item: InputItem): item is Answer => item.kind === 'output' || item.kind === 'approval'

/** A place in a session. The input is new from the item `from` on. */
interface Found {
  sessionId: string
  place: MessagePlace | undefined
  from: number
}

export async function placeOf(sql: Sql, by: By, named: NamedPlace, input: readonly InputItem[]): Promise<Placed> {
  const items = withNewMessage(input)
  const findReply = await namedReplies(sql, by, items)
  const found = (await placeByName(sql, by, named)) ?? placeByItems(items, findReply)
  if (found === null) return { kind: 'new' }
  const { sessionId, place, from } = found
  const fresh = items.slice(from)
  if (!fresh.some(isAnswer)) return { kind: 'message', sessionId, place, message: newMessage(fresh), answers: [] }
  const { found: isThere, wait } = await findWait(sql, { agentId: by.agentId, sessionId, user: userOf(by.caller) })
  if (!isThere) missing('conversation')
  // A place before the pending calls is another branch, where nothing waits.
  const waits = place !== undefined && 'parent' in place && place.parent !== wait?.replyId ? null : wait
  const answered = answeredCalls(items, { fresh, wait, findReply })
  const calls = answered.map(({ item, id }) => decisionOf(item, id))
  if (fresh.some(({ kind }) => kind === 'user') && !fresh.some(({ kind }) => kind === 'approval')) {
    const message = newMessage(fresh.filter((item) => !isAnswer(item)))
    return { kind: 'message', sessionId, place, message, answers: answersAmong(calls, awaitedAt(place, wait)) }
  }
  refuseStray(fresh)
  refuseMissed(answered, wait)
  const decisions = { calls, wait: waits, bySecret: by.caller.kind === 'secret', asMessages: false }
  return { kind: 'decisions', sessionId, decisions }
}

/**
 * Removes the id of the last user message. The message is new whatever id it has: an unanswered one is sent again to be
 * answered.
 */
function withNewMessage(items: readonly InputItem[]): InputItem[] {
  const newest = items.findLastIndex(({ kind }) => kind === 'user')
  return items.map((item, index) => (index === newest ? { ...item, uuid: null } : item))
}

/** Finds the place that `previous_response_id` or `conversation` names. It is null without either. */
async function placeByName(sql: Sql, { agentId, caller }: By, named: NamedPlace): Promise<Found | null> {
  const { previous_response_id: previous, conversation: given, on_busy: onBusy } = named
  const conversation = given === undefined || given === null ? null : conversationOf(given)
  if (previous !== undefined && previous !== null) {
    const uuid = uuidIn(previous)
    const response = uuid && (await findResponse(sql, uuid, agentId))
    if (!response || !opens(caller, { id: response.sessionId, user: response.user })) {
      throw new CodedError(400, 'previous_response_id: there is no such response', 'previous_response_not_found')
    }
    const { id, sessionId, status } = response
    if (conversation !== null && conversation !== sessionId) {
      return badRequest('previous_response_id: is not of this conversation')
    }
    if (status === 'queued' && onBusy !== 'enqueue') {
      const words = 'The response of previous_response_id has not begun: wait for it, or send on_busy: "enqueue".'
      throw new HttpError(409, words, noRetry)
    }
    return { sessionId, place: { parent: id }, from: 0 }
  }
  if (conversation === null) return null
  const session = await ownSession(sql, caller, { agent_id: agentId, session_id: conversation })
  return { sessionId: (session ?? missing('conversation')).id, place: undefined, from: 0 }
}

/** Reads the id of a conversation, bare or in an object. */
function conversationOf(given: unknown): string {
  const id: unknown = typeof given === 'object' && given !== null && 'id' in given ? given.id : given
  if (typeof id !== 'string') return badRequest('conversation: must be an id, or an object with one')
  return uuidIn(id) ?? missing('conversation')
}

/** A reply of the caller's that items refer to. */
interface NamedReply extends ReplyPlace {
  ids: ReplyIds
}

/** A function that finds the reply of an id: of the reply, of a part of it, or of the message that it answers. */
type FindReply = (uuid: string) => NamedReply | undefined

/** The number of items that one query looks up. Items are looked up from the end: the last known one decides. */
const ITEMS_AT_ONCE = 100

/** Finds the caller's replies that items refer to. */
async function namedReplies(sql: Sql, { agentId, caller }: By, items: readonly InputItem[]): Promise<FindReply> {
  for (let end = items.length; end > 0; end -= ITEMS_AT_ONCE) {
    const ids = items.slice(Math.max(0, end - ITEMS_AT_ONCE), end).flatMap(idsIn)
    const found = await findReplies(sql, agentId, ids.map(replyRange))
    const own = found.filter(({ sessionId, user }) => opens(caller, { id: sessionId, user }))
    if (own.length > 0) return findIn(own)
  }
  return () => undefined
}

function findIn(replies: readonly ReplyPlace[]): FindReply {
  const named = replies.map((reply): NamedReply => ({ ...reply, ids: replyIds(reply) }))
  const byHalf = Map.groupBy(named, ({ id }) => replyHalf(id))
  const byQuestion = new Map(named.map((reply) => [reply.questionId, reply]))
  return (uuid) => byQuestion.get(uuid) ?? byHalf.get(replyHalf(uuid))?.find(({ ids }) => ids.has(uuid))
}

function idsIn(item: InputItem): string[] {
  if (item.kind === 'instructions') return []
  const call = 'callId' in item ? uuidIn(item.callId) : null
  return [item.uuid, call].filter((id) => id !== null)
}

/** Returns the reply that an item belongs to. An answer to a call is new, unless it was given with its call. */
function replyOf(item: InputItem, findReply: FindReply): NamedReply | undefined {
  if (!isAnswer(item)) return idsIn(item).flatMap((uuid) => findReply(uuid) ?? [])[0]
  const { uuid } = item
  const reply = uuid === null ? undefined : findReply(uuid)
  return uuid !== null && reply?.ids.isGivenOutput(uuid) ? reply : undefined
}

/** Returns the reply whose call the item answers. */
function askedIn(item: InputItem, findReply: FindReply): NamedReply | undefined {
  const uuid = isAnswer(item) ? uuidIn(item.callId) : null
  return uuid === null ? undefined : findReply(uuid)
}

/**
 * Returns the index of the item that marks the place. A known user message marks it only if nothing but new user
 * messages follows.
 */
function lastKnown(items: readonly InputItem[], findReply: FindReply): number {
  const last = items.findLastIndex((item) => replyOf(item, findReply) !== undefined)
  const isFollowed = items.slice(last + 1).some(({ kind }) => kind === 'assistant' || kind === 'call')
  if (items[last]?.kind !== 'user' || !isFollowed) return last
  return items.findLastIndex((item) => item.kind !== 'user' && replyOf(item, findReply) !== undefined)
}

function placeByItems(items: readonly InputItem[], findReply: FindReply): Found | null {
  const last = lastKnown(items, findReply)
  const anchor = items[last]
  const first = items.findIndex((item) => askedIn(item, findReply) !== undefined)
  const answer = items[first]
  const reply = (anchor && replyOf(anchor, findReply)) ?? (answer && askedIn(answer, findReply))
  if (reply === undefined) return null
  return { sessionId: reply.sessionId, place: { parent: reply.id }, from: anchor ? last + 1 : first }
}

interface AnsweredCall {
  item: Answer
  /** The model's id of the call. */
  id: string
}

/** Returns the answers to pending calls, wherever they are in the input, and all new answers. */
function answeredCalls(
  items: readonly InputItem[],
  { fresh, wait, findReply }: { fresh: readonly InputItem[]; wait: Wait | null; findReply: FindReply },
): AnsweredCall[] {
  const pending = new Map((wait?.pending ?? []).map(({ call_id: id }) => [callUuid(wait?.replyId ?? '', id), id]))
  const isNew = (item: Answer) => replyOf(item, findReply) === undefined
  const answers = items
    .filter(isAnswer)
    .filter(isNew)
    .map((item) => {
      const uuid = uuidIn(item.callId)
      const known = uuid === null ? undefined : (pending.get(uuid) ?? findReply(uuid)?.ids.callId(uuid))
      return { item, id: known ?? item.callId }
    })
  const waiting = new Set(pending.values())
  const isFresh = new Set<InputItem>(fresh)
  return answers.filter(({ item, id }) => waiting.has(id) || isFresh.has(item))
}

function refuseStray(fresh: readonly InputItem[]): void {
  const stray = fresh.find((item) => !isAnswer(item) && item.kind !== 'aside' && item.kind !== 'instructions')
  if (stray) badRequest(`${stray.where}: only outputs and approvals can stand here: calls wait for them`)
}

function refuseMissed(answered: readonly AnsweredCall[], wait: Wait | null): void {
  const ids = new Set(answered.map(({ id }) => id))
  const waiting = (wait?.pending ?? []).map(({ call_id: id }) => id)
  const isMissed = waiting.some((id) => !ids.has(id))
  if (isMissed && waiting.some((id) => ids.has(id))) badRequest('input: another call waits too, and must be answered')
}

function decisionOf(item: Answer, id: string): DecidedCall {
  if (item.kind === 'output') return { id, decision: 'respond', output: item.output }
  if (item.approve) return { id, decision: 'approve' }
  return { id, decision: 'reject', ...(item.reason !== null && { reason: item.reason }) }
}

/** Joins the new items into one user message. */
function newMessage(fresh: readonly InputItem[]): SentMessage {
  const message: SentMessage = { text: '', parts: [] }
  let isFirst = true
  for (const item of fresh) {
    if (item.kind === 'aside' || item.kind === 'instructions') continue
    if (item.kind === 'reference') return badRequest(`${item.where}.id: there is no such item`)
    if (item.kind !== 'user')
      return badRequest(`${item.where}: only messages of the user can be added to a conversation`)
    if (!isFirst) message.text += '\n\n'
    const before = message.text.length
    message.text += item.message.text
    message.parts.push(...item.message.parts.map((part) => ({ ...part, place: part.place + before })))
    isFirst = false
  }
  return isFirst ? badRequest('input: must end with a message of the user') : message
}
