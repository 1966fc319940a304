/** A request's parts on their way into its message: checked, fetched where they are addresses, stored (contract section 13). */
import { randomUUID } from 'node:crypto'
import { userMessage, withinPartLimit, withOutputParts } from '../../../actors/history/message-parts.ts'
import type { MessagePart, ModelMessage, NewParts, PartIdentity, PartText } from '../../../actors/ports/index.ts'
import { createSemaphore } from '../../../async/semaphore.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readContent, textOf } from '../../../persistence/replies/reading/part-rows.ts'
import { keepContents, type PartOwner, releaseContents, textSizes } from '../store/parts.ts'
import type { Decoded } from './base64.ts'
import { faultOf, pictureTypeOf } from './check-bytes.ts'
import { bringsDocument, type DocumentText, documentTexts } from './document-parts.ts'
import {
  type FoundPart,
  type FoundSource,
  mediaTypesOf,
  partsOf,
  type SentConversation,
  type SentPart,
  tooLarge,
} from './sent-message.ts'
import { type FindStored, findStored } from './stored-parts.ts'
import { MOST_MESSAGE_BYTES, type Uploads } from './uploads.ts'

export interface PartDependencies {
  sql: Sql
  /** Fetches a picture, or says why there is none, or `too large`, instead of it. Rejects with what `hold` throws. */
  fetchPicture(
    url: string,
    options: { maxBytes: number; signal: AbortSignal; hold(bytes: number): void; of: string },
  ): Promise<Decoded | { fault: string } | 'too large'>
  /** Logs failures that no caller waits for. */
  log: { warn(details: object, message: string): void }
}

/** The limit of all pictures of a request together. */
const FETCH_MS = 10_000

/** Connections that one request opens at a time. */
const FETCHES = 6

/** A part and its bytes. */
export interface LoadedPart {
  part: FoundPart
  /** The part, without pieces where they are stored already. */
  data: Decoded
  mediaType: string
}

/** Throws 400 for bytes that are not what they are called. Those at addresses are not looked at. */
export async function checkSent(parts: readonly FoundPart[]): Promise<void> {
  for (const { source, where } of parts) {
    if (source.kind !== 'data') continue
    const fault = await faultOf(source.data, source.mediaType)
    if (fault !== null) badRequest(`${where}: ${fault}`)
  }
}

/** Adds the pictures that are fetched: each address once, all within 10 s. Throws 400, 413 and 503. */
async function loadParts(
  deps: PartDependencies,
  parts: readonly FoundPart[],
  { uploads, of }: { uploads: Uploads; of: string },
): Promise<LoadedPart[]> {
  if (parts.length === 0) return [] // as of most requests: a time limit for each is 10 s of garbage
  const signal = AbortSignal.timeout(FETCH_MS)
  const failed = new AbortController()
  const fetched = new Map<string, Promise<{ data: Decoded; mediaType: string }>>()
  const connections = createSemaphore(FETCHES)
  const fetchInTurn = async (part: FoundPart, url: string) => {
    using _connection = await connections.acquire(failed.signal)
    return await fetchOne(deps, part, url, { uploads, of, signal: AbortSignal.any([signal, failed.signal]) })
  }
  const loads = parts.map(async (part): Promise<LoadedPart> => {
    const { source } = part
    if (source.kind === 'data') return { part, data: source.data, mediaType: source.mediaType }
    if (source.kind === 'stored') {
      const { size, sha256, mediaType } = source.stored
      return { part, data: { size, sha256, pieces: [] }, mediaType }
    }
    const known = fetched.get(source.url)
    const fetching = known ?? fetchInTurn(part, source.url)
    if (known === undefined) fetched.set(source.url, fetching)
    return { part, ...(await fetching) }
  })
  return await Promise.all(loads).finally(() => failed.abort())
}

async function fetchOne(
  { fetchPicture }: PartDependencies,
  { where }: FoundPart,
  url: string,
  { uploads, of, signal }: { uploads: Uploads; of: string; signal: AbortSignal },
): Promise<{ data: Decoded; mediaType: string }> {
  const data = await fetchPicture(url, { maxBytes: MOST_MESSAGE_BYTES, signal, hold: uploads.hold, of })
  if (data === 'too large') throw tooLarge()
  if ('fault' in data) return badRequest(`${where}: cannot be fetched. ${data.fault}`)
  const mediaType = await pictureTypeOf(data.pieces)
  return mediaType === null ? badRequest(`${where}: is no picture in PNG, JPEG, WebP or GIF`) : { data, mediaType }
}

/**
 * Throws 413. Documents count with their texts. Of `earlier` messages only what the request brings counts: what it names
 * sends no bytes.
 */
function refuseTooLarge(
  parts: readonly LoadedPart[],
  texts: ReadonlyMap<string, DocumentText>,
  earlier: readonly LoadedPart[] = [],
): void {
  const sizeOf = ({ part: { source }, data }: LoadedPart) =>
    source.kind === 'stored' ? (source.stored.text ?? data).size : (texts.get(data.sha256) ?? data).size
  const brought = (one: LoadedPart) => one.part.source.kind !== 'stored'
  for (const counted of [parts, [...earlier, ...parts].filter(brought)]) {
    if (counted.reduce((sum, one) => sum + sizeOf(one), 0) > MOST_MESSAGE_BYTES) throw tooLarge()
  }
}

/** Parts of earlier messages: more pictures do not fit, and are not fetched. */
const MOST_EARLIER = 100

export const partsIn = (messages: SentConversation<FoundSource>): FoundPart[] => messages.flatMap(partsOf)

/** Returns whether pictures are to be fetched. */
export const bringsAddresses = (messages: SentConversation<FoundSource>): boolean =>
  partsIn(messages).some(({ source }) => source.kind === 'address')

/** Loads the messages of a stateless request with all that they hold, as far as it is sent. `of`: who brings it. Throws 400, 413 and 503. */
export async function loadMessages(
  deps: PartDependencies,
  messages: SentConversation<FoundSource>,
  { uploads, of }: { uploads: Uploads; of: string },
): Promise<ModelMessage[]> {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const [earlier, newest] = [partsIn(messages.slice(0, at)), partsIn(messages.slice(at))]
  await checkSent([...earlier, ...newest])
  const loaded = new Map<FoundPart, LoadedPart>()
  for (const one of await loadParts(deps, [...newest, ...earlier.slice(-MOST_EARLIER)], { uploads, of })) {
    loaded.set(one.part, one)
  }
  const texts = await uploads.during(() => documentTexts([...loaded.values()], of))
  return withinPartLimit(
    messages.map((message) => {
      refuseTooLarge(
        partsOf(message).flatMap((part) => loaded.get(part) ?? []),
        texts,
      )
      return modelMessage(message, (part) => heldPart(part, loaded.get(part), texts))
    }),
  )
}

/** Returns a message as a model is sent it. */
export function modelMessage(
  message: SentConversation<FoundSource>[number],
  read: (part: FoundPart) => MessagePart,
): ModelMessage {
  const parts = partsOf(message).map(read)
  if (message.role === 'user') return userMessage(message.content, parts)
  if (message.role === 'assistant') return message
  const { toolCallId, content } = message
  const [result = { role: 'tool', toolCallId, content }] = withOutputParts(
    [{ role: 'tool', toolCallId, content }],
    parts,
  )
  return result
}

/** Returns a part whose bytes are in memory, or stored. One that was not loaded fits nowhere. */
export function heldPart(
  part: FoundPart,
  loaded: LoadedPart | undefined,
  texts: ReadonlyMap<string, DocumentText> = new Map(),
): MessagePart {
  const { source } = part
  const { data, mediaType } = loaded ?? {
    data: { size: Number.POSITIVE_INFINITY, sha256: '', pieces: [] },
    mediaType: 'image',
  }
  const held = async function* () {
    yield* data.pieces
  }
  if (source.kind === 'stored') return loadedPart({ part, data, mediaType }, source.stored.read, source.stored.text)
  const { bytes } = texts.get(data.sha256) ?? {}
  const text = async function* () {
    if (bytes !== undefined) yield bytes
  }
  return loadedPart({ part, data, mediaType }, held, bytes && { size: bytes.length, read: text })
}

const loadedPart = (
  { part, data, mediaType }: LoadedPart,
  read: MessagePart['read'],
  text: PartText | undefined,
): MessagePart => ({
  type: part.type,
  sha256: data.sha256,
  mediaType,
  filename: part.filename,
  size: data.size,
  detail: part.detail,
  sourceUrl: addressOf(part.source),
  place: part.place,
  ...(part.callId !== undefined && { callId: part.callId }),
  read,
  ...(text && { text }),
})

const addressOf = (source: FoundSource): string | null => {
  if (source.kind === 'data') return null
  return source.kind === 'address' ? source.url : source.stored.sourceUrl
}

/** Uploads that are stored at a time: each holds a connection, and writes as much as a thousand messages. */
const storing = createSemaphore(2)
const never = new AbortController().signal

export interface PreparedParts extends NewParts {
  /** The media types that a provider must take to be asked. */
  mediaTypes: readonly string[]
  /** Tells that the message is stored, or never will be. */
  over(): void
}

/**
 * Prepares a session's message: its parts are stored when its turn has come. Undefined when it has none. `earlier`: how many
 * of the parts are those of messages before it. Throws 400.
 */
export async function prepareParts(
  deps: PartDependencies,
  sent: readonly SentPart[],
  { uploads, find, owner, earlier = 0 }: { uploads: Uploads; find: FindStored; owner: PartOwner; earlier?: number },
): Promise<PreparedParts | undefined> {
  if (sent.length === 0) return undefined
  const parts = await findStored(sent, find)
  await checkSent(parts)
  const { sql, log } = deps
  const uploadId = randomUUID()
  const of = JSON.stringify([owner.agentId, owner.user ?? owner.sessionId])
  let stored: Promise<readonly MessagePart[]> | null = null
  const store = async () => {
    const loaded = await loadParts(deps, parts, { uploads, of })
    const documents = loaded.filter(bringsDocument).map(({ data }) => data.sha256)
    const known = documents.length === 0 ? undefined : await textSizes(sql, owner, documents)
    const texts = await uploads.during(() => documentTexts(loaded, of, known))
    refuseTooLarge(loaded.slice(earlier), texts, loaded.slice(0, earlier))
    const contents = loaded.map(({ part: { source }, data }) =>
      source.kind === 'stored'
        ? { ...data, pieces: null, storedAs: source.stored.storedAs ?? null }
        : { ...data, text: texts.get(data.sha256)?.bytes },
    )
    const keys = await uploads.during(async () => {
      using _permit = await storing.acquire(never, of)
      return await keepContents(sql, uploadId, { owner, contents })
    })
    if (keys === null) return badRequest('A picture or file that the message names was deleted meanwhile.')
    const isToBeSent = (one: LoadedPart) => one.part.source.kind !== 'stored' && !bringsDocument(one)
    uploads.cache(loaded.filter(isToBeSent).map(({ data }) => data))
    return loaded.map((one, n) => {
      const { source } = one.part
      const size = (source.kind === 'stored' ? source.stored.text : texts.get(one.data.sha256))?.size
      return storedPart(sql, one, { storedAs: keys[n] ?? one.data.sha256, textSize: size }, uploads)
    })
  }
  return {
    mediaTypes: mediaTypesOf(parts),
    identities: parts.map(({ source, callId }) => ({ ...identityOf(source), ...(callId !== undefined && { callId }) })),
    store: () => (stored ??= store()),
    over() {
      stored
        ?.then(() => releaseContents(sql, uploadId))
        .catch((err: unknown) => {
          // The cleanup job finds them.
          if (!(err instanceof HttpError)) log.warn({ err }, 'The parts of a message could not be released.')
        })
    },
  }
}

/** Returns a part that is stored. The first read has it from memory, if it is still there. */
function storedPart(
  sql: Sql,
  loaded: LoadedPart,
  { storedAs, textSize }: { storedAs: string; textSize: number | undefined },
  { drain }: Uploads,
): MessagePart {
  const { data } = loaded
  const read = async function* () {
    yield* drain(data) ?? readContent(sql, storedAs)
  }
  const text = textSize === undefined ? undefined : textOf(sql, storedAs, textSize)
  return { ...loadedPart(loaded, read, text), storedAs }
}

function identityOf(source: FoundSource): PartIdentity {
  if (source.kind === 'data') return { sha256: source.data.sha256 }
  if (source.kind === 'address') return { sourceUrl: source.url }
  const { sourceUrl, sha256 } = source.stored
  return sourceUrl === null ? { sha256 } : { sourceUrl }
}
