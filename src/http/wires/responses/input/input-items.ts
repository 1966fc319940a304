/**
 * Reader of the items of a request's `input` (contract section 24). Each item is read once, by its form alone. Throws
 * 400 and 413.
 */

import {
  bytesAt,
  gather,
  readFileId,
  readName,
  type SentMessage,
  type SentPart,
  type Uploads,
} from '../../../../features/parts/index.ts'
import { isObject } from '../../../../untrusted/is-object.ts'
import { badRequest } from '../../../server/http-error.ts'
import { uuidIn } from '../output/ids.ts'
import { isForeign } from './foreign-items.ts'

type Fields = Readonly<Record<string, unknown>>

export type InputItem = {
  /** The item's field, for errors. */
  where: string
  /** The UUID of the item's id. Null for an id of another form, and where no id is looked up. */
  uuid: string | null
} & (
  | { kind: 'user'; message: SentMessage }
  | { kind: 'assistant'; text: string }
  | { kind: 'instructions'; text: string }
  | { kind: 'call'; callId: string; name: string; arguments: string }
  /** An output of a call. The parts of a list are beside its text. */
  | { kind: 'output'; callId: string; output: string; parts: readonly SentPart[] }
  | { kind: 'approval'; callId: string; approve: boolean; reason: string | null }
  /** A summary, whose content this server has sealed. */
  | { kind: 'compaction'; sealed: string }
  /** An item that is referenced by its id alone. */
  | { kind: 'reference' }
  /** An item that no model is shown: reasoning, or a request for an approval. */
  | { kind: 'aside' }
)

/** The number of items, from the end of an input on, whose ids are looked up. The last known one decides. */
export const MOST_NAMED = 1000

/** Reads the items of an input. `field` is the field's name in errors. */
export function readInput(input: unknown, uploads: Uploads, field = 'input'): InputItem[] {
  if (typeof input === 'string') {
    return [{ kind: 'user', message: { text: input, parts: [] }, where: field, uuid: null }]
  }
  if (input === undefined || input === null) return badRequest(`${field}: is required`)
  if (!Array.isArray(input)) return badRequest(`${field}: must be a string or an array of items`)
  if (input.length === 0) return badRequest(`${field}: must have at least 1 element`)
  const named = input.length - MOST_NAMED
  return input.map((item: unknown, index) => readItem(item, `${field}.${index}`, uploads, index >= named))
}

function readItem(item: unknown, where: string, uploads: Uploads, isNamed: boolean): InputItem {
  if (!isObject(item)) return badRequest(`${where}: must be an object`)
  const base = { where, uuid: isNamed ? uuidIn(item.id) : null }
  switch (item.type) {
    case undefined:
    case null:
      // References and messages may lack their type.
      return item.role === undefined && typeof item.id === 'string'
        ? { ...base, kind: 'reference' }
        : readMessage(item, base, uploads)
    case 'message':
      return readMessage(item, base, uploads)
    case 'function_call':
      return {
        ...base,
        kind: 'call',
        callId: textField(item, 'call_id', where),
        name: textField(item, 'name', where),
        arguments: textField(item, 'arguments', where),
      }
    case 'function_call_output':
      return { ...base, kind: 'output', callId: textField(item, 'call_id', where), ...readOutput(item, where, uploads) }
    case 'custom_tool_call':
      return {
        ...base,
        kind: 'call',
        callId: textField(item, 'call_id', where),
        name: textField(item, 'name', where),
        arguments: JSON.stringify({ input: textField(item, 'input', where) }),
      }
    case 'custom_tool_call_output':
      return { ...base, kind: 'output', callId: textField(item, 'call_id', where), ...readOutput(item, where, uploads) }
    case 'mcp_approval_response': {
      const { approve, reason = null } = item
      if (typeof approve !== 'boolean') return badRequest(`${where}.approve: must be true or false`)
      if (reason !== null && typeof reason !== 'string') return badRequest(`${where}.reason: must be a string`)
      return { ...base, kind: 'approval', callId: textField(item, 'approval_request_id', where), approve, reason }
    }
    case 'item_reference':
      textField(item, 'id', where)
      return { ...base, kind: 'reference' }
    case 'compaction':
      return { ...base, kind: 'compaction', sealed: textField(item, 'encrypted_content', where) }
    case 'reasoning':
    case 'mcp_approval_request':
      return { ...base, kind: 'aside' }
    default:
      if (isForeign(item.type)) return { ...base, kind: 'aside' }
      return badRequest(
        `${where}.type: must be message, function_call, function_call_output, mcp_approval_response, reasoning or item_reference`,
      )
  }
}

function textField(item: Fields, name: string, where: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : badRequest(`${where}.${name}: is required and must be a string`)
}

function readMessage(item: Fields, base: Pick<InputItem, 'where' | 'uuid'>, uploads: Uploads): InputItem {
  const { role, content } = item
  const where = `${base.where}.content`
  switch (role) {
    case 'user':
      return { ...base, kind: 'user', message: readContent(content, where, uploads) }
    case 'assistant':
      return { ...base, kind: 'assistant', text: readContent(content, where).text }
    case 'system':
    case 'developer':
      return { ...base, kind: 'instructions', text: readContent(content, where).text }
    default:
      return badRequest(`${base.where}.role: must be user, assistant, system or developer`)
  }
}

/** Reads a text or an array of parts. Without `uploads` only texts are allowed. */
function readContent(content: unknown, where: string, uploads?: Uploads): SentMessage {
  if (typeof content === 'string') return { text: content, parts: [] }
  if (!Array.isArray(content)) return badRequest(`${where}: must be a string or an array of parts`)
  return gather(content, uploads, (part, index) => {
    const at = `${where}.${index}`
    const isText = part.type === 'input_text' || part.type === 'output_text' || part.type === 'text'
    if (isText && typeof part.text === 'string') return part.text
    if (part.type === 'refusal' && typeof part.refusal === 'string') return part.refusal
    if (uploads === undefined) return badRequest(`${at}: must be a text`)
    if (part.type === 'input_image') return readImage(part, at, uploads)
    if (part.type === 'input_file') return readFile(part, at, uploads)
    return badRequest(`${at}.type: must be input_text, input_image or input_file`)
  })
}

function readImage(part: Fields, at: string, uploads: Uploads): Omit<SentPart, 'place'> {
  const { detail = null } = part
  if (detail !== null && detail !== 'auto' && detail !== 'low' && detail !== 'high') {
    return badRequest(`${at}.detail: must be auto, low or high`)
  }
  const found =
    readFileId(part, at, 'image_url') ?? bytesAt(part, { where: at, name: 'image_url', type: 'image_url', uploads })
  return { type: 'image_url', ...found, filename: null, detail }
}

function readFile(part: Fields, at: string, uploads: Uploads): Omit<SentPart, 'place'> {
  if (part.file_url !== undefined && part.file_url !== null) {
    return badRequest(`${at}.file_url: is not supported: send the file itself as file_data, or its file_id`)
  }
  const found =
    readFileId(part, at, 'file_data') ?? bytesAt(part, { where: at, name: 'file_data', type: 'file', uploads })
  return { type: 'file', ...found, filename: readName(part.filename, `${at}.filename`), detail: null }
}

/** Reads an output: a text, or a list whose texts are joined. */
function readOutput({ output }: Fields, where: string, uploads: Uploads): { output: string; parts: SentPart[] } {
  const { text, parts } = readContent(output, `${where}.output`, uploads)
  return { output: text, parts }
}
