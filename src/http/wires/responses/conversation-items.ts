/** Items of a conversation: given, read, taken back (contract section 32). */
import type { components } from '../../../../openapi/generated/schema.ts'
import type { GivenMessage, PartIdentity, SentMessage } from '../../../actors/ports/index.ts'
import { titleFrom } from '../../../features/branches/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { type PreparedParts, prepareParts, requireUploads } from '../../../features/parts/index.ts'
import { fullWords, noRetry } from '../../sending/refusals.ts'
import { idempotencyOf, isRetry } from '../../sending/request-options.ts'
import { badRequest, HttpError, missing } from '../../server/http-error.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { givenWithParts, partsIn } from './input/given-parts.ts'
import { historyIn } from './input/history-items.ts'
import { type InputItem, readInput } from './input/input-items.ts'
import { type Contents, repeatedAt, storedContents } from './input/same-items.ts'
import { replyRange, uuidIn } from './output/ids.ts'
import { itemsOf, type StoredItem } from './output/stored-items.ts'
import { shortenedAt } from './output/taken-items.ts'
import { type Given, giveMessages, takeBack } from './store/conversation-items.ts'
import { readTurns, readTurnsIn, readTurnsOf, type StoredTurn } from './store/stored-inputs.ts'
import type { StoredConversation } from './store/stored-responses.ts'

/** The maximum number of items that one request gives. */
const MOST_ITEMS = 1000

/** The number of times that items are given again, when another message came between. */
const MOST_TRIES = 5

const whereOf = ({ agentId, id }: StoredConversation) => ({ agentId, sessionId: id })

export const listOf = (data: readonly StoredItem[]) => ({
  object: 'list' as const,
  data: [...data],
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: false,
})

const held = () =>
  new HttpError(
    409,
    'A reply or a compaction runs, calls wait, or messages are queued: items are not changed now.',
    noRetry,
  )

export async function giveItems(
  deps: ResponseDependencies,
  conversation: StoredConversation,
  body: components['schemas']['ConversationItemsCreate'],
  { caller, request }: Exchange,
) {
  if (caller.kind === 'secret') throw new HttpError(403, 'items: they are given with the deploy key')
  const read = readGivenItems(body, request)
  const history = historyIn(read, 'items')
  if (history.length === 0) return listOf([])
  const owner = { agentId: conversation.agentId, sessionId: conversation.id, user: null }
  const find = ownFiles(deps.sql, caller, conversation.agentId)
  const brought = partsIn(history)
  const options = { uploads: requireUploads(request), find, owner, earlier: brought.length }
  const prepared = await prepareParts(deps, brought, options)
  const { messages, parts } = givenWithParts(history, prepared)
  const idempotency = idempotencyOf(request, body)
  try {
    const contents = new Map(brought.flatMap((part, n) => entryOf(part, prepared?.identities[n])))
    const giving = { read, contents, messages, parts, idempotency, isRetried: isRetry(request) }
    return await giveInTurn(deps, conversation, giving)
  } finally {
    parts?.over()
  }
}

/** Reads the items of a request that gives them to a conversation. Throws 400 and 413. */
export function readGivenItems(
  { items }: components['schemas']['ConversationItemsCreate'],
  request: Exchange['request'],
): InputItem[] {
  if (!Array.isArray(items)) return badRequest('items: must be an array of items')
  if (items.length > MOST_ITEMS) return badRequest(`items: must have at most ${MOST_ITEMS} elements`)
  const read = readInput(items, requireUploads(request), 'items')
  const instruction = read.find(({ kind }) => kind === 'instructions')
  return instruction ? badRequest(`${instruction.where}.role: send instructions with the response`) : read
}

interface Giving {
  read: readonly InputItem[]
  /** The pictures and files of the items. */
  contents: Contents
  messages: readonly GivenMessage[]
  /** Complete the messages when they are stored. */
  parts: PreparedParts | undefined
  idempotency: SentMessage['idempotency']
  isRetried: boolean
}

async function giveInTurn(
  deps: ResponseDependencies,
  conversation: StoredConversation,
  { messages, parts, idempotency, ...giving }: Giving,
) {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { head, repeated } = await repeatedItems(deps, conversation, giving)
    if (repeated !== null) return listOf(repeated)
    await parts?.store()
    const given = { sessionId: conversation.id, messages, title: titleFrom(messages), after: head, idempotency }
    const stored = await giveMessages(deps.sql, given, deps.storage)
    if (stored.outcome !== 'moved') return await givenAnswer(deps, conversation, stored)
  }
  throw held()
}

async function givenAnswer(deps: ResponseDependencies, conversation: StoredConversation, given: Given) {
  switch (given.outcome) {
    case 'given':
    case 'repeated': {
      const turns = await readTurnsOf(deps.sql, conversation.id, given.ids)
      return listOf(turns.flatMap((turn) => itemsOf(turn, whereOf(conversation))))
    }
    case 'session_full':
    case 'user_full':
      throw new HttpError(413, fullWords[given.outcome], noRetry)
    case 'key_reused':
      return badRequest('Idempotency-Key: was used for another body')
    case 'not_found':
      return missing('conversation')
    case 'busy':
    case 'moved':
      throw held()
    default:
      return given satisfies never
  }
}

/**
 * Returns the head, and the items there that the given ones repeat: those of the newest question and of the reply of
 * this server that answered it, or for a client's own retry any.
 */
async function repeatedItems(
  { sql }: ResponseDependencies,
  conversation: StoredConversation,
  { read: sent, contents, isRetried }: Pick<Giving, 'read' | 'contents' | 'isRetried'>,
): Promise<{ head: string | null; repeated: readonly StoredItem[] | null }> {
  const turns: StoredTurn[] = []
  let items = 0
  for await (const turn of readTurns(sql, conversation.id, 'desc')) {
    turns.unshift(turn)
    items += itemsOf(turn, whereOf(conversation)).length
    if (isRetried ? items >= sent.length : turn.role === 'user') break
  }
  const isAnswered = turns.some((turn) => turn.role === 'assistant' && !turn.isGiven)
  const stored = turns.flatMap((turn) => itemsOf(turn, whereOf(conversation)))
  const head = turns.at(-1)?.id ?? null
  if (!isAnswered && !isRetried) return { head, repeated: null }
  const all = new Map([...contents, ...turns.flatMap((turn) => [...storedContents(turn, whereOf(conversation))])])
  return { head, repeated: repeatedAt(stored, sent, all) }
}

const entryOf = <K>(of: K, identity: PartIdentity | undefined): [K, PartIdentity][] =>
  identity ? [[of, identity]] : []

export async function readItem(
  { sql }: Pick<ResponseDependencies, 'sql'>,
  conversation: StoredConversation,
  itemId: string,
): Promise<StoredItem> {
  const uuid = uuidIn(itemId)
  if (uuid === null) return missing('item')
  const turns = await readTurnsIn(sql, conversation.id, replyRange(uuid))
  const items = turns.flatMap((turn) => itemsOf(turn, whereOf(conversation)))
  return items.find(({ id }) => uuidIn(id) === uuid) ?? missing('item')
}

export async function takeItem(
  deps: ResponseDependencies,
  conversation: StoredConversation,
  itemId: string,
): Promise<void> {
  const item = await readItem(deps, conversation, itemId)
  const { sql } = deps
  const { value: head } = await readTurns(sql, conversation.id, 'desc').next()
  const last = head && itemsOf(head, whereOf(conversation)).at(-1)
  if (!head || last?.id !== item.id) return refuseFollowed()
  const asked = head.role === 'assistant' ? head.continues : null
  const [before] = asked === null ? [] : await readTurnsOf(sql, conversation.id, [asked])
  const outcome = await takeBack(sql, conversation.id, shortenedAt(head, before ?? null))
  if (outcome === 'not_found') missing('conversation')
  if (outcome === 'busy') throw held()
  if (outcome === 'moved') refuseFollowed()
}

export function refuseFollowed(): never {
  throw new HttpError(409, 'Other items follow this one.', noRetry)
}
