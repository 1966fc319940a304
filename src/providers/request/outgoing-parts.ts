/**
 * Pictures and files in a provider's request. A body is built with placeholders, which the bytes replace while the body
 * is being sent. No picture or file is in memory as a whole, let alone as text.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type {
  MessagePart,
  ModelMessage,
  ModelRequest,
  Segment,
  ToolResultMessage,
  UserMessage,
} from '../../actors/ports/index.ts'
import { parseExact } from '../../untrusted/exact-json.ts'
import { partsOfOutputs } from '../../untrusted/picture-type.ts'
import { takesPart } from '../parts.ts'
import type { PieceBody } from './fetch.ts'

/** A random prefix of placeholders, so that no text of users or models is taken for one. */
const nonce = randomBytes(12).toString('hex')
const words = new RegExp(`${nonce}:(base64|text):sha256:([0-9a-f]{64})`, 'g')

/** The parts of the request that is being sent, by their SHA-256. */
const sending = new AsyncLocalStorage<ReadonlyMap<string, MessagePart>>()

/** Returns the placeholder for the bytes in base64. */
export const bytesOf = ({ sha256 }: MessagePart): string => `${nonce}:base64:sha256:${sha256}`

/** Returns the placeholder, within a string, for the bytes as text. */
export const textOf = ({ sha256 }: MessagePart): string => `${nonce}:text:sha256:${sha256}`

/** Returns the body as it may be stored and shown: `sha256:<hex>` replaces the bytes. */
export function shownBody(request: ModelRequest, body: object): object {
  if (partsIn(request).length === 0) return body
  const shown = parseExact(JSON.stringify(body).replace(words, 'sha256:$2'))
  return Object(shown)
}

const partsIn = ({ messages }: ModelRequest): MessagePart[] =>
  messages.flatMap((message) => {
    if (message.role === 'assistant') return []
    const parts = (message.segments ?? []).filter((segment) => typeof segment !== 'string')
    return message.role === 'tool' ? [...(message.pictures ?? []), ...parts] : parts
  })

const picturesFollow = '[The pictures that the tools returned, in the order of their results:]'

/**
 * Appends the pictures of tools as a user's message after the results of their turn: few APIs accept a picture in a
 * result, all of them accept one there. A provider that accepts none is sent none: the result's text mentions them.
 * Parts of outputs that callers gave follow a line that names their call; `inResults` leaves them in the result.
 */
export function withToolPictures(
  type: string,
  messages: readonly ModelMessage[],
  inResults = false,
): readonly ModelMessage[] {
  let shown: MessagePart[] = []
  let named: Segment[] = []
  const names = new Map<string, string>()
  return messages.flatMap((message, index): ModelMessage[] => {
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls ?? []) names.set(id, name)
    if (message.role !== 'tool') return [message]
    const { toolCallId } = message
    const { pictures, parts, sent } = dividedResult(type, message, inResults)
    shown.push(...pictures)
    if (parts.length > 0) named.push(`[The output of the call ${toolCallId} of ${names.get(toolCallId)}:]`, ...parts)
    if (messages[index + 1]?.role === 'tool' || shown.length + named.length === 0) return [sent]
    const segments = [...(shown.length > 0 ? [picturesFollow, ...shown] : []), ...named]
    const content = segments.filter((segment) => typeof segment === 'string').join('\n')
    shown = []
    named = []
    return [sent, { role: 'user', content, segments }]
  })
}

/**
 * Divides a result into what is sent as such, the tool's pictures, and the parts of an output that follow it. Words stand for
 * parts of an output that the provider does not take.
 */
function dividedResult(type: string, { pictures = [], segments, ...result }: ToolResultMessage, inResults: boolean) {
  const hasRoom = takesPart(type, partsOfOutputs)
  const takes = ({ mediaType }: MessagePart) => hasRoom && takesPart(type, mediaType)
  const own = pictures.filter(takes)
  if (segments === undefined) return { pictures: own, parts: [], sent: result }
  const shown = segments
    .map((segment) => (typeof segment === 'string' || takes(segment) ? segment : `\n${wordsFor(segment)}\n`))
    .filter((segment) => typeof segment !== 'string' || segment.trim() !== '')
  const parts = shown.filter((segment) => typeof segment !== 'string')
  const content = shown.filter((segment) => typeof segment === 'string').join('')
  const isKept = inResults && parts.length > 0
  return {
    pictures: own,
    parts: isKept ? [] : parts,
    sent: { ...result, content, ...(isKept && { segments: shown }) },
  }
}

/** Describes a part that is not sent to the provider. */
const wordsFor = ({ type, mediaType }: MessagePart): string =>
  `[A ${type === 'image_url' ? 'picture' : 'file'} stood here that this model does not take: ${mediaType}]`

/** Returns texts and the parts that the provider accepts, and descriptions of the others. Blank texts are left out. */
export function segmentsFor(type: string, { content, segments = [content] }: UserMessage): Segment[] {
  return segments
    .map((segment) => (typeof segment === 'string' || takesPart(type, segment.mediaType) ? segment : wordsFor(segment)))
    .filter((segment) => typeof segment !== 'string' || segment.trim() !== '')
}

/** Runs `send` with the bytes of the request's parts at hand. */
export function sendingParts<T>(request: ModelRequest, send: () => T): T {
  const parts = partsIn(request)
  return parts.length === 0 ? send() : sending.run(new Map(parts.map((part) => [part.sha256, part])), send)
}

/** Returns the body with the bytes of the request that is being sent. A text that holds none is the body itself. */
export async function withBytes(body: string): Promise<string | PieceBody> {
  const parts = sending.getStore()
  if (parts === undefined) return body
  const slots: (string | Slot)[] = []
  let shown = 0
  for (const match of body.matchAll(words)) {
    const [word, form, sha256 = ''] = match
    const part = parts.get(sha256)
    if (part === undefined) throw new Error('A part that the request does not have.')
    slots.push(body.slice(shown, match.index), { part, isText: form === 'text' })
    shown = match.index + word.length
  }
  if (slots.length === 0) return body
  slots.push(body.slice(shown))
  let length = 0
  for (const slot of slots) length += typeof slot === 'string' ? Buffer.byteLength(slot) : await lengthOf(slot)
  return { length, pieces: piecesOf(slots) }
}

interface Slot {
  part: MessagePart
  isText: boolean
}

async function lengthOf({ part, isText }: Slot): Promise<number> {
  if (!isText) return Math.ceil(part.size / 3) * 4
  let length = 0
  for await (const piece of jsonTexts(part)) length += piece.length
  return length
}

async function* piecesOf(slots: readonly (string | Slot)[]): AsyncGenerator<Uint8Array> {
  for (const slot of slots) {
    if (typeof slot === 'string') yield Buffer.from(slot)
    else yield* slot.isText ? jsonTexts(slot.part) : base64(slot.part)
  }
}

/**
 * The size of a piece in bytes. It is a multiple of 3, so that base64 in pieces is valid base64. Other tasks get a turn
 * after each piece (0.1 ms). Its text is small enough to be collected as young garbage.
 */
const PIECE_BYTES = 48 * 1024

async function* base64({ read, size }: MessagePart): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0)
  let sent = 0
  for await (const bytes of read()) {
    const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    const whole = all.length - (all.length % 3)
    for (let at = 0; at < whole; at += PIECE_BYTES) {
      const piece = Buffer.from(all.buffer, all.byteOffset + at, Math.min(PIECE_BYTES, whole - at))
      yield Buffer.from(piece.toString('base64'), 'latin1')
      await setImmediate()
    }
    rest = Buffer.from(all.subarray(whole))
    sent += bytes.length
  }
  if (sent !== size) throw new Error('A picture or file was deleted while it was being sent.')
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'))
}

/** Escapes a text as within a JSON string. */
async function* jsonTexts({ read }: MessagePart): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8')
  for await (const bytes of read()) {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield jsonText(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }))
      await setImmediate()
    }
  }
  yield jsonText(decoder.decode())
}

const jsonText = (text: string): Buffer => Buffer.from(JSON.stringify(text).slice(1, -1))
