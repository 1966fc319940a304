/**
 * Mending of MCP servers' responses for the SDK (contract section 25). Null for an optional field is removed, and
 * unreadable parts are left out one by one. The SDK would refuse the whole response.
 */
import { INTERNAL_ERROR, isSpecType } from '@modelcontextprotocol/client'
import { isObject } from '../../untrusted/is-object.ts'
import { numbersInJson, withNumbers } from './mcp-numbers.ts'
import { wordsIn } from './mcp-words.ts'

type Answer = Record<string, unknown>

/** A listener for parts that were left out, for the log. */
export type OnLeftOut = (what: string) => void

/**
 * Removes the parts of a result that the SDK could not read, by the rules of the request's method. Changes `result`.
 */
export function mendResult(method: string, result: Answer, onLeftOut: OnLeftOut): void {
  for (const [field, value] of Object.entries(result)) if (value === null) delete result[field]
  if (method === 'initialize') mendInitialized(result)
  if (method === 'tools/list') mendList(result, onLeftOut)
  if (method === 'tools/call') mendCalled(result, onLeftOut)
}

/** Keeps the fields in use: further data of a server about itself does no harm, whatever it holds. */
function mendInitialized(result: Answer): void {
  const { tools } = fieldsOf(result.capabilities)
  const { name, version } = fieldsOf(result.serverInfo)
  result.capabilities = tools ? { tools: {} } : {}
  result.serverInfo = { name: textOr(name, ''), version: textOr(version, '') }
  delete result.instructions
}

const fieldsOf = (value: unknown): Answer => (isObject(value) ? value : {})

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise)

function mendList(result: Answer, onLeftOut: OnLeftOut): void {
  const { nextCursor } = result
  if (nextCursor === undefined || (typeof nextCursor === 'string' && nextCursor !== '')) return
  delete result.nextCursor
  if (nextCursor !== '') onLeftOut('a cursor')
}

function mendCalled(result: Answer, onLeftOut: OnLeftOut): void {
  const { content, isError, structuredContent } = result
  if (isError !== undefined && typeof isError !== 'boolean') result.isError = isError === 'true' || isError === 1
  // Older revisions require an object, and the SDK's servers wrap any other value like this for them.
  const isOld = !('resultType' in result)
  if (isOld && structuredContent !== undefined && !isObject(structuredContent)) {
    result.structuredContent = { result: structuredContent }
  }
  // A single block instead of a list, a list in the list, or nothing but structured content.
  const blocks = Array.isArray(content) ? content.flat() : content === undefined ? [] : [content]
  result.content = blocks.flatMap((block: unknown) => {
    const readable = mendBlock(block)
    if (readable === null) onLeftOut('a content block')
    return readable === null ? [] : [readable]
  })
}

/** Reads a block. Returns null when it cannot be read. */
function mendBlock(block: unknown): object | null {
  if (typeof block === 'string') return { type: 'text', text: block }
  if (!isObject(block)) return null
  const used = usedOf(block)
  return isSpecType.ContentBlock(used) ? used : null
}

const wordsOf = (value: unknown) => (value == null ? undefined : numbersInJson(JSON.stringify(value)))

/** Keeps the fields of a block that are used here, so that a null or a wrong value in any other field costs nothing. */
function usedOf({ type, text, data, mimeType, name, uri, resource }: Answer): Answer {
  switch (type ?? (typeof text === 'string' ? 'text' : null)) {
    case 'text':
      // A number or an object where a text is expected: the model reads it all the same.
      return { type: 'text', text: textOr(withNumbers(text), wordsOf(text)) }
    case 'image':
    case 'audio':
      return { type, data, mimeType: textOr(mimeType, 'application/octet-stream') }
    case 'resource_link':
      return { type, name, uri }
    case 'resource':
      return { type, resource: usedOfResource(fieldsOf(resource)) }
    default:
      return {}
  }
}

const usedOfResource = ({ uri, mimeType, text, blob }: Answer): Answer => ({
  uri: textOr(uri, 'unknown'),
  mimeType: textOr(mimeType, undefined),
  ...(typeof text === 'string' ? { text } : { blob }),
})

/** Keywords of a schema whose null is meant, or whose values are not schemas. */
const MAY_BE_NULL = new Set(['const', 'default'])
const VALUES = new Set([...MAY_BE_NULL, 'enum', 'examples'])
/** Keywords that hold schemas by names of the author's choice. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * Removes null from a tool's schema where it means absence. `areNames`: the keys are names, such as those of
 * properties, not keywords.
 */
export function schemaWithoutNulls(schema: unknown, areNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => schemaWithoutNulls(one))
  if (!isObject(schema)) return schema
  const fields = Object.entries(schema).filter(
    ([name, field]) => field !== null || (!areNames && MAY_BE_NULL.has(name)),
  )
  return Object.fromEntries(
    fields.map(([name, field]) =>
      !areNames && VALUES.has(name) ? [name, field] : [name, schemaWithoutNulls(field, !areNames && BY_NAME.has(name))],
    ),
  )
}

/** A function that returns the id of the request that is being answered. Undefined when that is not known. */
export type AskedId = () => unknown

/**
 * Mends a message before the SDK reads it. Null next to a result or an error, and null as `_meta`, is removed. An error
 * without an id, as JSON-RPC requires where the request was not read, answers `asked`. An error of any form keeps its
 * message.
 */
export function mendMessage(message: unknown, asked: AskedId = () => undefined): unknown {
  if (Array.isArray(message)) return message.map((one) => mendMessage(one, asked))
  if (!isObject(message)) return message
  const { result, error, ...rest } = message
  if (error) return { ...rest, id: rest.id ?? asked(), error: readableError(error) }
  if (!isObject(result)) return message
  const { _meta: meta, ...others } = result
  return { ...rest, result: meta === null || meta === undefined ? others : result }
}

/** Converts an error. Without a code that is a whole number, it is a general error. */
const readableError = (error: unknown): Answer => ({
  ...fieldsOf(error),
  code: isObject(error) && Number.isSafeInteger(error.code) ? error.code : INTERNAL_ERROR,
  message: wordsIn(error) ?? JSON.stringify(error),
})
