/**
 * Answers of MCP servers as they come, made what the SDK reads (contract section 25): null where a field may be absent is
 * absent, and what cannot be read is left out by itself. The SDK would refuse the whole answer.
 */
import { isSpecType } from '@modelcontextprotocol/client'
import { isObject } from '../../untrusted/is-object.ts'

type Answer = Record<string, unknown>

/** Called with what was left out, for the log. */
export type OnLeftOut = (what: string) => void

/** Removes from a result what the SDK could not read, by the rules of the request's method. Changes `result`. */
export function mendResult(method: string, result: Answer, onLeftOut: OnLeftOut): void {
  for (const [field, value] of Object.entries(result)) if (value === null) delete result[field]
  if (method === 'initialize') mendInitialized(result)
  if (method === 'tools/list') mendList(result, onLeftOut)
  if (method === 'tools/call') mendCalled(result, onLeftOut)
}

function mendInitialized(result: Answer): void {
  result.capabilities = withoutNulls(result.capabilities)
  const { name, version, ...rest } = withoutNulls(result.serverInfo)
  result.serverInfo = { name: textOr(name, ''), version: textOr(version, ''), ...rest }
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

const withoutNulls = (value: unknown): Answer =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(([, field]) => field !== null))

function mendList(result: Answer, onLeftOut: OnLeftOut): void {
  const { nextCursor } = result
  if (nextCursor === undefined || (typeof nextCursor === 'string' && nextCursor !== '')) return
  delete result.nextCursor
  if (nextCursor !== '') onLeftOut('a cursor')
}

function mendCalled(result: Answer, onLeftOut: OnLeftOut): void {
  const { content, isError } = result
  if (isError !== undefined && typeof isError !== 'boolean') result.isError = isError === 'true' || isError === 1
  // A single block instead of a list, or nothing but structured content.
  const blocks = Array.isArray(content) ? content : content === undefined ? [] : [content]
  result.content = blocks.flatMap((block: unknown) => {
    const readable = mendBlock(block)
    if (readable === null) onLeftOut('a content block')
    return readable === null ? [] : [readable]
  })
}

/** Null when it cannot be read. */
function mendBlock(block: unknown): object | null {
  if (typeof block === 'string') return { type: 'text', text: block }
  if (!isObject(block)) return null
  const given = withoutNulls(block)
  const { annotations: _, _meta: __, ...plain } = given
  const typed = plain.type === 'image' || plain.type === 'audio' ? withMediaType(plain) : plain
  const text = typed.type === 'text' && typeof typed.text !== 'string' ? writtenOut(typed) : typed
  return isSpecType.ContentBlock(text) ? text : null
}

/** A number or an object where a text is expected: the model reads it all the same. */
const writtenOut = (block: Answer): Answer =>
  block.text === undefined ? block : { ...block, text: JSON.stringify(block.text) }

const withMediaType = (block: Answer): Answer =>
  typeof block.mimeType === 'string' ? block : { ...block, mimeType: 'application/octet-stream' }

/** Gives the id of the request that is being answered. Undefined when that is not known. */
export type AskedId = () => unknown

/**
 * Before the SDK reads it: null beside a result or an error, and null as `_meta`, is nothing. An error without an id,
 * as JSON-RPC wants it where the request was not looked at, is the answer to `asked`.
 */
export function mendMessage(message: unknown, asked: AskedId = () => undefined): unknown {
  if (Array.isArray(message)) return message.map((one) => mendMessage(one, asked))
  if (!isObject(message)) return message
  const { result, error, ...rest } = message
  if (isObject(result) && (error === null || error === undefined)) {
    const { _meta: meta, ...others } = result
    return { ...rest, result: meta === null || meta === undefined ? others : result }
  }
  if (isObject(error) && (rest.id ?? null) === null) return { ...rest, id: asked(), error }
  return error !== undefined && result === null ? { ...rest, error } : message
}
