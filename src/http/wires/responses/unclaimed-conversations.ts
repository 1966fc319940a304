/**
 * Conversations below `/api/v1/openai` that are made without a model, as OpenAI's are (contract section 24). They have no
 * agent until their first response, whose agent's session they become.
 */
import { setImmediate } from 'node:timers/promises'
import type { components } from '../../../../openapi/generated/schema.ts'
import { makeSession } from '../../../features/branches/index.ts'
import { requireUploads } from '../../../features/parts/index.ts'
import { agentsOf, type Caller, keyIdOf } from '../../../features/users/index.ts'
import { fullWords, noRetry } from '../../sending/refusals.ts'
import { isRetry } from '../../sending/request-options.ts'
import { badRequest, CodedError, HttpError, missing } from '../../server/http-error.ts'
import { listOf, readGivenItems, refuseFollowed } from './conversation-items.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { type HistoryMessage, historyIn } from './input/history-items.ts'
import { readInput } from './input/input-items.ts'
import { isRepeatable, repeatedAt } from './input/same-items.ts'
import { uuidIn } from './output/ids.ts'
import { type ItemQuery, listOfItems, orderOf } from './output/item-list.ts'
import { itemsOf, type StoredItem } from './output/stored-items.ts'
import { shortenedAt } from './output/taken-items.ts'
import type { StoredTurn } from './store/stored-inputs.ts'
import {
  addUnclaimed,
  changeUnclaimed,
  claimUnclaimed,
  findUnclaimed,
  forgetUnclaimed,
  type KeptMessage,
  type UnclaimedConversation,
  withIds,
} from './store/unclaimed.ts'

/** Returns whether the caller may have conversations of no agent: those who may use every agent. */
const mayUse = (caller: Caller): boolean => caller.kind !== 'secret' && agentsOf(caller) === null

/** Finds a conversation of no agent. Null when there is none, and for callers who see none. */
export const findOfNoAgent = async (
  { sql }: Pick<ResponseDependencies, 'sql'>,
  caller: Caller,
  id: string,
): Promise<UnclaimedConversation | null> => (mayUse(caller) ? await findUnclaimed(sql, id) : null)

export async function createOfNoAgent(
  deps: ResponseDependencies,
  { items, metadata }: components['schemas']['ConversationCreate'],
  { caller, request }: Pick<Exchange, 'caller' | 'request'>,
): Promise<UnclaimedConversation> {
  const given: unknown = items ?? []
  if (!Array.isArray(given)) return badRequest('items: must be an array of items')
  const read = given.length === 0 ? [] : readInput(given, requireUploads(request), 'items')
  const sealed = read.find(({ kind }) => kind === 'compaction')
  if (sealed) return badRequest(`${sealed.where}: a summary is of one agent: send the agent as model`)
  const messages = withIds(textsAlone(historyIn(read, 'items')))
  const wanted = { metadata: metadata ?? {}, messages: refuseFull(deps, messages) }
  const most = deps.storage.userSessions ?? Number.MAX_SAFE_INTEGER
  return (await addUnclaimed(deps.sql, wanted, { keyId: keyIdOf(caller) ?? '', most })) ?? refuseOneMore()
}

/** Refuses one more conversation. Its first response, or its deletion, makes room. */
function refuseOneMore(): never {
  const words = 'As many conversations without an agent as MAX_USER_SESSIONS allows wait for their first response.'
  throw new CodedError(429, words, 'too_many_sessions', noRetry)
}

/** Returns messages that bring no pictures and files, which are stored with an agent. Throws 400. */
const textsAlone = (history: readonly HistoryMessage[]) =>
  history.map(({ sent = [], ...message }) => {
    const [part] = sent
    return part ? badRequest(`${part.where}: pictures and files need an agent: send it as model`) : message
  })

/** The most bytes of a conversation of no agent. Each request reads all of them. */
const MOST_BYTES = 4 * 2 ** 20

/** Throws 413. */
function refuseFull({ storage }: ResponseDependencies, messages: readonly KeptMessage[]): readonly KeptMessage[] {
  const bytes = Buffer.byteLength(JSON.stringify(messages))
  if (bytes > (storage.sessionBytes ?? Number.POSITIVE_INFINITY)) {
    throw new HttpError(413, fullWords.session_full, noRetry)
  }
  if (bytes <= MOST_BYTES) return messages
  throw new HttpError(413, 'A conversation without an agent holds 4 MiB: send the agent as model.', noRetry)
}

/** Returns a message as the turn of a session that is made with it. */
function turnOf(message: KeptMessage, position: number): StoredTurn {
  const { id, role, content, events = [] } = message
  if (role === 'user') return { id, role, position, content, parts: [], cuts: null }
  const told = events.length > 0 || content === '' ? events : [{ type: 'text' as const, text: content }]
  return {
    id,
    role,
    position,
    model: null,
    createdAt: new Date(0),
    encoder: 1,
    continues: null,
    decisions: [],
    answers: [],
    parts: [],
    events: told.map((event, index) => ({ seq: index + 1, part: 0, event })),
    isGiven: true,
    outcome: null,
  }
}

const itemsIn = (messages: readonly KeptMessage[]): StoredItem[] =>
  messages.flatMap((message, position) => itemsOf(turnOf(message, position), { agentId: '', sessionId: '' }))

/** The items that are made without a pause. */
const PIECE = 200

/** Yields the items from one end of the conversation on, in pieces of which others' turns come between. */
export async function* itemsFrom(
  { messages }: Pick<UnclaimedConversation, 'messages'>,
  order: 'asc' | 'desc',
): AsyncGenerator<StoredItem> {
  let made = 0
  for (const message of order === 'asc' ? messages : messages.toReversed()) {
    const items = itemsIn([message])
    yield* order === 'asc' ? items : items.toReversed()
    made += items.length
    if (made < PIECE) continue
    made = 0
    await setImmediate()
  }
}

/** Returns the last items, at least so many of those that a client may send again. */
function lastItems(messages: readonly KeptMessage[], count: number): StoredItem[] {
  const pieces: StoredItem[][] = []
  for (let at = messages.length - 1, found = 0; at >= 0 && found < count; at -= 1) {
    const items = itemsIn(messages.slice(at, at + 1))
    pieces.push(items)
    found += items.filter(isRepeatable).length
  }
  return pieces.toReversed().flat()
}

async function itemIn(found: UnclaimedConversation, itemId: string): Promise<StoredItem> {
  const uuid = uuidIn(itemId)
  if (uuid === null) return missing('item')
  for await (const item of itemsFrom(found, 'desc')) if (uuidIn(item.id) === uuid) return item
  return missing('item')
}

/** Changes a conversation. Throws 409 while it becomes a session. */
async function changed<T>(
  { sql }: ResponseDependencies,
  { id }: UnclaimedConversation,
  change: Parameters<typeof changeUnclaimed<T>>[2],
): Promise<T> {
  const result = await changeUnclaimed(sql, id, change)
  if (result === null) throw new HttpError(409, 'The first response of this conversation begins.')
  return result
}

/** Returns the operations on a conversation of no agent. */
export const ofNoAgent = (deps: ResponseDependencies) => ({
  update: (found: UnclaimedConversation, metadata: Readonly<Record<string, string>> | null) =>
    changed(deps, found, (now) => {
      const kept = { ...metadata }
      return { metadata: kept, result: { ...now, metadata: kept } }
    }),

  list: (found: UnclaimedConversation, query: ItemQuery) => listOfItems(itemsFrom(found, orderOf(query)), query),

  give: (
    found: UnclaimedConversation,
    body: components['schemas']['ConversationItemsCreate'],
    { request }: Pick<Exchange, 'request'>,
  ) => {
    const read = readGivenItems(body, request)
    const given = withIds(textsAlone(historyIn(read, 'items')))
    return changed(deps, found, (now) => {
      const repeated = isRetry(request) ? repeatedAt(lastItems(now.messages, read.length), read, new Map()) : null
      if (repeated !== null) return { result: listOf(repeated) }
      return { result: listOf(itemsIn(given)), messages: refuseFull(deps, [...now.messages, ...given]) }
    })
  },

  getItem: itemIn,

  async takeBack(found: UnclaimedConversation, itemId: string) {
    const item = await itemIn(found, itemId)
    return await changed(deps, found, (now) => {
      const head = now.messages.at(-1)
      if (head === undefined || itemsIn([head]).at(-1)?.id !== item.id) return refuseFollowed()
      const [own] = shortenedAt(turnOf(head, now.messages.length - 1), null).changes
      const rest = own?.rest ? [{ ...own.rest, id: head.id }] : []
      return { result: now, messages: [...now.messages.slice(0, -1), ...rest] }
    })
  },
})

/**
 * Makes a conversation of no agent the agent's session, if there is one with this id. It may become one at the same time
 * for another request: then that session is found.
 */
export async function claimConversation(
  deps: ResponseDependencies,
  { agentId, caller }: { agentId: string; caller: Caller },
  id: string,
): Promise<void> {
  const found = mayUse(caller) ? await claimUnclaimed(deps.sql, id, agentId) : null
  if (found === null) return
  const { metadata, messages } = found
  await makeSession(deps, agentId, { id, user: null, metadata, messages }).catch((error: unknown) => {
    if (!(error instanceof HttpError) || error.status !== 409) throw error
  })
  await forgetUnclaimed(deps.sql, id)
}
