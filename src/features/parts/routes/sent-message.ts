/** A message's text, pictures and files, as a request brings them (contract section 13): their form, not yet their bytes. */

import type { MessagePart, ModelMessage, PartType } from '../../../actors/ports/index.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { partsOfOutputs } from '../../../untrusted/picture-type.ts'
import { documentTypes } from '../documents/document-types.ts'
import type { Decoded } from './base64.ts'
import { cleanName } from './clean-name.ts'
import { MOST_MESSAGE_BYTES, type Uploads } from './uploads.ts'

/** Texts included. */
const MOST_PARTS = 20

/** The media types that each kind of part may hold. */
const mediaTypes: Readonly<Record<PartType, readonly string[]>> = {
  image_url: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  file: ['application/pdf', 'text/plain', 'text/markdown', 'text/csv', ...documentTypes],
}
const aliases = new Map([['image/jpg', 'image/jpeg']])

/** The place of the bytes: in the request, at an address, or in an earlier message. */
export type FoundSource =
  | { kind: 'data'; data: Decoded; mediaType: string }
  | { kind: 'address'; url: string }
  | { kind: 'stored'; stored: MessagePart }

/** The name of stored bytes: a part of an earlier message by its path of this API, or an uploaded file by its id. */
export type StoredName = { kind: 'path'; path: string } | { kind: 'file'; id: string }

/** The part as it was read: what it names has not been looked at. */
export type Source = Exclude<FoundSource, { kind: 'stored' }> | StoredName

export interface SentPart<From = Source>
  extends Pick<MessagePart, 'type' | 'filename' | 'detail' | 'place' | 'callId'> {
  source: From
  /** The field, for messages about it. */
  where: string
}

export type FoundPart = SentPart<FoundSource>

export interface SentMessage {
  text: string
  parts: SentPart[]
  /** The places in the text where a text follows another one directly. Absent when none does. */
  joins?: number[]
}

export type ChatMessage<From = Source> =
  | { role: 'user'; content: string; parts: SentPart<From>[] }
  | { role: 'assistant'; content: string }

/** The messages of a model and of tools. `parts`: of an output. */
export type AnswerMessage<From = Source> =
  | Exclude<ModelMessage, { role: 'user' } | { role: 'tool' }>
  | { role: 'tool'; toolCallId: string; content: string; parts?: SentPart<From>[] }

export type SentConversation<From = Source> = readonly (ChatMessage<From> | AnswerMessage<From>)[]

/** Returns the parts that a message brings. */
export const partsOf = <From>(message: SentConversation<From>[number]): readonly SentPart<From>[] =>
  'parts' in message ? (message.parts ?? []) : []

/** Returns what a provider must take to be asked. Of a picture that is not fetched yet the kind is not known. */
export function mediaTypesOf(parts: readonly FoundPart[]): string[] {
  const types = parts.map(({ source }) => {
    if (source.kind === 'address') return 'image/*'
    return source.kind === 'data' ? source.mediaType : source.stored.mediaType
  })
  return parts.some(({ callId }) => callId !== undefined) ? [...types, partsOfOutputs] : types
}

type Fields = Readonly<Record<string, unknown>>

const textForm = '{"type": "text", "text": string}'

/**
 * Reads content. Texts are joined, in which parts keep their places. Throws 400 and 413. `uploads` undefined: text
 * alone is taken.
 */
export function readContent(content: unknown, where: string, uploads?: Uploads): SentMessage {
  if (typeof content === 'string') return { text: content, parts: [] }
  if (!Array.isArray(content)) return badRequest(`${where}: must be a string or an array of parts`)
  return gather(content, uploads, (part, index) => {
    const at = `${where}.${index}`
    if (part.type === 'text' && typeof part.text === 'string') return part.text
    if (uploads === undefined) return badRequest(`${at}: only parts of the form ${textForm} are supported`)
    if (part.type === 'image_url') return readImage(part.image_url, `${at}.image_url`, uploads)
    if (part.type === 'file') return readFile(part.file, `${at}.file`, uploads)
    return badRequest(`${at}: must be ${textForm}, or of type image_url or file`)
  })
}

/** Returns the message that such parts make: each is read as a text, or as what is none. Throws 413. */
export function gather(
  parts: readonly unknown[],
  uploads: Uploads | undefined,
  read: (part: Fields, index: number) => string | Omit<SentPart, 'place'>,
): SentMessage {
  if (uploads !== undefined && parts.length > MOST_PARTS) {
    throw new HttpError(413, `A message holds at most ${MOST_PARTS} parts, texts included.`)
  }
  const message: SentMessage = { text: '', parts: [] }
  const joins: number[] = []
  let isText = false // the part before it
  for (const [index, part] of parts.entries()) {
    const one = read(isObject(part) ? part : {}, index)
    if (typeof one === 'string') {
      if (isText) joins.push(message.text.length)
      message.text += one
    } else message.parts.push({ ...one, place: message.text.length })
    isText = typeof one === 'string'
  }
  if (joins.length > 0) message.joins = joins
  const sizes = message.parts.map(({ source }) => (source.kind === 'data' ? source.data.size : 0))
  if (sizes.reduce((sum, size) => sum + size, 0) > MOST_MESSAGE_BYTES) throw tooLarge()
  return message
}

export const tooLarge = () => new HttpError(413, 'The pictures and files of a message hold at most 20 MiB.')

function readImage(image: unknown, where: string, uploads: Uploads): Omit<SentPart, 'place'> {
  if (!isObject(image)) return badRequest(`${where}: must be an object with a url`)
  const { url, detail = null } = image
  if (detail !== null && detail !== 'auto' && detail !== 'low' && detail !== 'high') {
    return badRequest(`${where}.detail: must be auto, low or high`)
  }
  const source = readSource(url, `${where}.url`, 'image_url', uploads)
  return { type: 'image_url', source, filename: null, detail, where: `${where}.url` }
}

function readFile(file: unknown, where: string, uploads: Uploads): Omit<SentPart, 'place'> {
  if (!isObject(file)) return badRequest(`${where}: must be an object with file_data or file_id`)
  const { source, where: at } =
    readFileId(file, where, 'file_data') ?? bytesAt(file, { where, name: 'file_data', type: 'file', uploads })
  return { type: 'file', source, filename: readName(file.filename, `${where}.filename`), detail: null, where: at }
}

/** Reads the id of an uploaded file. Null when the part has none. Throws 400, also for `other` beside it. */
export function readFileId(part: Fields, at: string, other: string): Pick<SentPart, 'source' | 'where'> | null {
  const { file_id: id } = part
  if (id === undefined || id === null) return null
  const where = `${at}.file_id`
  if (typeof id !== 'string') return badRequest(`${where}: must be a string`)
  if (part[other] !== undefined && part[other] !== null) return badRequest(`${where}: must not come with ${other}`)
  return { source: { kind: 'file', id }, where }
}

/** Reads the bytes, or the address, in a field of a part. Throws 400 and 413. */
export function bytesAt(
  part: Fields,
  { where, name, type, uploads }: { where: string; name: string; type: PartType; uploads: Uploads },
): Pick<SentPart, 'source' | 'where'> {
  const at = `${where}.${name}`
  return { source: readSource(part[name], at, type, uploads), where: at }
}

/** Reads a name that may be shown and saved under. Throws 400 for what is no string. */
export function readName(name: unknown, where: string): string | null {
  if (name === undefined || name === null) return null
  return typeof name === 'string' ? cleanName(name) : badRequest(`${where}: must be a string`)
}

/** Reads a data URL, of any type when `type` is null. Throws 400 and 413. */
export function readSource(value: unknown, where: string, type: PartType | null, uploads: Uploads): Source {
  if (typeof value !== 'string') return badRequest(`${where}: is required and must be a string`)
  const found = uploads.find(value)
  if (found !== null) {
    if (found.data === 'too large') throw tooLarge()
    const mediaType = readType(found.head, where, type)
    if (found.data === 'broken') return badRequest(`${where}: is not valid base64`)
    return { kind: 'data', data: found.data, mediaType }
  }
  if (/^data:/i.test(value)) return badRequest(`${where}: must be a data: URL in base64`)
  const own = ownPath(value, uploads)
  if (own !== null) return { kind: 'path', path: own }
  if (type === 'file') return badRequest(`${where}: must be a data: URL`)
  return { kind: 'address', url: readAddress(value, where) }
}

/** Returns the path of a stored part that the address names. Null for any other address. */
function ownPath(value: string, uploads: Uploads): string | null {
  const address = value.replace(/\?access_token=[^&#]*$/, '') // which a page adds for its pictures
  return address.startsWith('/api/') ? address : uploads.shownPath(address)
}

function readType(head: string, where: string, type: PartType | null): string {
  const named = head.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const mediaType = aliases.get(named) ?? named
  const taken = type === null ? Object.values(mediaTypes).flat() : mediaTypes[type]
  if (taken.includes(mediaType)) return mediaType
  const given = named === '' ? 'none is named' : `not ${JSON.stringify(named.slice(0, 100))}`
  return badRequest(`${where}: the media type must be ${taken.slice(0, -1).join(', ')} or ${taken.at(-1)}, ${given}`)
}

export const isPictureType = (mediaType: string): boolean => mediaTypes.image_url.includes(mediaType)

const LONGEST_ADDRESS = 8192

function readAddress(value: string, where: string): string {
  if (value.length > LONGEST_ADDRESS) return badRequest(`${where}: is too long`)
  const url = URL.parse(value)
  if (url?.protocol !== 'https:') return badRequest(`${where}: must be a data: URL, or an https: address`)
  if (url.username !== '' || url.password !== '') return badRequest(`${where}: must have no user name or password`)
  return value
}
