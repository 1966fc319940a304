/**
 * The place of a request in a session, and the items of its input that are new there (contract section 24). Throws 400,
 * 404 and 409.
 */

import { setImmediate } from 'node:timers/promises'
import type { CallAnswer, DecidedCall } from '../../../../actors/ports/index.ts'
import type { PendingKind } from '../../../../actors/reply/reply-event.ts'
import {
  answersAmong,
  awaitedAt,
  findWait,
  type GivenDecisions,
  type Wait,
} from '../../../../features/approvals/index.ts'
import type { SentMessage, SentPart } from '../../../../features/parts/index.ts'
import { userOf } from '../../../../features/users/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { badRequest, missing } from '../../../server/http-error.ts'
import { callUuid, uuidIn } from '../output/ids.ts'
import { type KnownItem, messagePlace, type Place, type Places } from '../store/places.ts'
import { ofCall } from './history-items.ts'
import { type InputItem, MOST_NAMED } from './input-items.ts'
import type { Cuts } from './message-cuts.ts'
import { type By, type NamingFields, placesNamed } from './named-place.ts'
import { lastRepeated } from './repeated-path.ts'

export type Placed =
  /** A request that continues no session. */
  | { kind: 'new' }
  | {
      kind: 'message'
      place: Place
      /** The message with the parts of the answers. */
      message: NewMessage
      answers: CallAnswer[]
    }
  | { kind: 'decisions'; place: Place; decisions: GivenDecisions; parts: SentPart[] }

/** The new items as one message. `cuts`: where they were joined. */
type NewMessage = Pick<SentMessage, 'text' | 'parts'> & { cuts: Cuts }

type Answer = Extract<InputItem, { kind: 'output' | 'approval' }>

/** The kinds that items of the input can decide. */
const responsesDecide: readonly PendingKind[] = ['approval', 'caller']

/** The number of items that are looked at in a row, before others have their turn. */
const AT_ONCE = 2000

const isAnswer = (item: InputItem): item is Answer => item.kind === 'output' || item.kind === 'approval'

export async function placeOf(sql: Sql, by: By, fields: NamingFields, input: readonly InputItem[]): Promise<Placed> {
  if (input.length > AT_ONCE) await setImmediate() // reading them has taken as long
  const items = withNewMessage(input)
  const places = await placesNamed(sql, by, fields, items.slice(-MOST_NAMED).flatMap(idsIn))
  const { named } = places
  const found = named === null ? await placeByItems(sql, items, places) : { place: named, from: 0 }
  if (found === null) return { kind: 'new' }
  const { place, from } = found
  const { sessionId, replyId } = place
  const fresh = items.slice(from)
  if (!fresh.some(isAnswer)) return { kind: 'message', place, message: newMessage(fresh), answers: [] }
  const { found: isThere, wait } = await findWait(sql, { agentId: by.agentId, sessionId, user: userOf(by.caller) })
  if (!isThere) missing('conversation')
  // A place before the pending calls is another branch, where nothing waits.
  const waits = replyId !== null && replyId !== wait?.replyId ? null : wait
  const answered = await answeredCalls(items, { fresh, wait, places })
  const calls = answered.map(({ item, id }) => decisionOf(item, id))
  if (fresh.some(({ kind }) => kind === 'user') && !fresh.some(({ kind }) => kind === 'approval')) {
    const { text, parts, cuts } = newMessage(fresh.filter((item) => !isAnswer(item)))
    const answers = answersAmong(calls, awaitedAt(messagePlace(place), wait))
    const taken = new Set(answers.map(({ id }) => id))
    const message = { text, cuts, parts: [...parts, ...partsOfAnswers(answered.filter(({ id }) => taken.has(id)))] }
    return { kind: 'message', place, message, answers }
  }
  refuseStray(fresh)
  refuseMissed(answered, wait)
  const decisions = {
    calls,
    wait: waits,
    bySecret: by.caller.kind === 'secret',
    asMessages: false,
    inPart: false,
    decides: responsesDecide,
    isOwnAlone: true,
  }
  return { kind: 'decisions', place, decisions, parts: partsOfAnswers(answered) }
}

/**
 * Removes the id of the last user message. The message is new whatever id it has: an unanswered one is sent again to be
 * answered.
 */
function withNewMessage(items: readonly InputItem[]): InputItem[] {
  const newest = items.findLastIndex(({ kind }) => kind === 'user')
  return items.map((item, index) => (index === newest ? { ...item, uuid: null } : item))
}

const callIn = (item: InputItem): string | null => ('callId' in item ? uuidIn(item.callId) : null)

const idsIn = (item: InputItem): string[] => [item.uuid, callIn(item)].filter((id) => id !== null)

/** Returns the waiting call that an item names. */
async function callOf(
  item: InputItem,
  { itemOf }: Places,
): Promise<Extract<KnownItem, { kind: 'waiting' }> | undefined> {
  const uuid = callIn(item)
  const known = uuid === null ? undefined : await itemOf(uuid)
  return known?.kind === 'waiting' ? known : undefined
}

/** Returns the place of a stored item. An answer to a call is new, unless it was given with its call. */
async function storedAt(item: InputItem, places: Places): Promise<Place | undefined> {
  const known = item.uuid === null ? undefined : await places.itemOf(item.uuid)
  if (item.kind === 'user') return known?.kind === 'question' ? known.place : undefined
  if (isAnswer(item)) return known?.kind === 'tool_result' ? known.place : undefined
  return (known ?? (await callOf(item, places)))?.place
}

/** Returns the last known item with its index, among those that are looked up. `takes` limits the kinds. */
async function lastKnown(
  items: readonly InputItem[],
  places: Places,
  takes: (item: InputItem) => boolean = () => true,
): Promise<{ index: number; item: InputItem; place: Place } | null> {
  for (let index = items.length - 1; index >= Math.max(0, items.length - MOST_NAMED); index -= 1) {
    const item = items[index]
    const place = item && takes(item) ? await storedAt(item, places) : undefined
    if (item && place) return { index, item, place }
  }
  return null
}

/**
 * Returns the known item that marks the place. A known user message marks it only if nothing but new user messages
 * follows.
 */
async function anchorOf(items: readonly InputItem[], places: Places) {
  const last = await lastKnown(items, places)
  if (last?.item.kind !== 'user') return last
  const isFollowed = items.slice(last.index + 1).some(({ kind }) => kind === 'assistant' || kind === 'call')
  return isFollowed ? await lastKnown(items, places, ({ kind }) => kind !== 'user') : last
}

/** Finds the place that the items tell. The input is new from the item `from` on. */
async function placeByItems(
  sql: Sql,
  items: readonly InputItem[],
  places: Places,
): Promise<{ place: Place; from: number } | null> {
  const anchor = await anchorOf(items, places)
  if (anchor !== null) {
    const { place, index } = anchor
    const rest = items.slice(index + 1)
    const repeats = rest.findLastIndex(({ kind }) => kind === 'assistant' || kind === 'call') + 1
    const last = repeats === 0 ? place : await lastRepeated(sql, anchor, rest.slice(0, repeats))
    return last && { place: last, from: index + repeats + 1 }
  }
  for (const [index, item] of items.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
    const asked = isAnswer(item) ? await callOf(item, places) : undefined
    if (asked !== undefined) return { place: asked.place, from: index }
  }
  return null
}

interface AnsweredCall {
  item: Answer
  /** The model's id of the call. */
  id: string
}

/** Returns the answers to pending calls, wherever they are in the input, and all new answers. */
async function answeredCalls(
  items: readonly InputItem[],
  { fresh, wait, places }: { fresh: readonly InputItem[]; wait: Wait | null; places: Places },
): Promise<AnsweredCall[]> {
  const pending = new Map((wait?.pending ?? []).map(({ call_id: id }) => [callUuid(wait?.replyId ?? '', id), id]))
  const waiting = new Set(pending.values())
  const isFresh = new Set<InputItem>(fresh)
  const answered: AnsweredCall[] = []
  for (const [index, item] of items.filter(isAnswer).entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
    const uuid = callIn(item)
    const known = uuid === null ? undefined : (pending.get(uuid) ?? (await callOf(item, places))?.callId)
    const id = known ?? item.callId
    const isWanted = waiting.has(id) || isFresh.has(item)
    if (isWanted && (await storedAt(item, places)) === undefined) answered.push({ item, id })
  }
  return answered
}

const partsOfAnswers = (answered: readonly AnsweredCall[]): SentPart[] =>
  answered.flatMap(({ item, id }) => (item.kind === 'output' ? ofCall(id, item.parts) : []))

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
function newMessage(fresh: readonly InputItem[]): NewMessage {
  const message: SentMessage = { text: '', parts: [] }
  const cuts: Cuts = { messages: [], texts: [] }
  let isFirst = true
  for (const item of fresh) {
    if (item.kind === 'aside' || item.kind === 'instructions') continue
    if (item.kind === 'reference') return badRequest(`${item.where}.id: there is no such item`)
    if (item.kind !== 'user')
      return badRequest(`${item.where}: only messages of the user can be added to a conversation`)
    if (!isFirst) message.text += '\n\n'
    const before = message.text.length
    if (!isFirst) cuts.messages.push(before)
    cuts.texts.push(...(item.message.joins ?? []).map((place) => place + before))
    message.text += item.message.text
    message.parts.push(...item.message.parts.map((part) => ({ ...part, place: part.place + before })))
    isFirst = false
  }
  return isFirst ? badRequest('input: must end with a message of the user') : { ...message, cuts }
}
