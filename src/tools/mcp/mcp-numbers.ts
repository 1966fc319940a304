/**
 * Digits of numbers on their way through the SDK (contract section 35), which parses and writes JSON itself, and copies
 * arguments into headers. A number that JavaScript would change travels as a marked text.
 */
import { randomBytes } from 'node:crypto'
import { mayChange, parseExact } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'

/** A random mark, so that no text of a model or a server is taken for a number. */
const MARK = `number-${randomBytes(12).toString('hex')}:`
const MARKED = new RegExp(`^${MARK}(?=[-\\d])`)
const IN_JSON = new RegExp(`"${MARK}([-+.\\deE]+)"`, 'g')
const IN_HEADER = new RegExp(`^${MARK}`)

/** Fields of a result that the SDK passes on without looking at their numbers. */
const MARKED_FIELDS = new Set(['content', 'structuredContent', 'inputRequests', 'tools'])

/** Returns fields of `parseExact` with marked texts in place of raw numbers. */
export const withMarks = (fields: Record<string, unknown>): Record<string, unknown> =>
  fieldsOf(fields, (one) => (JSON.isRawJSON(one) ? MARK + JSON.stringify(one) : one))

/** Returns a value with raw numbers in place of marked texts. */
export const withNumbers = (value: unknown): unknown =>
  mapped(value, (one) => (typeof one === 'string' && MARKED.test(one) ? JSON.rawJSON(one.slice(MARK.length)) : one))

function mapped(value: unknown, change: (one: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change))
  return isObject(value) ? fieldsOf(value, change) : change(value)
}

const fieldsOf = (fields: Record<string, unknown>, change: (one: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, mapped(one, change)]))

/** Returns a body that the SDK wrote, with numbers in place of marked texts. */
export const numbersInJson = (body: string): string => (body.includes(MARK) ? body.replace(IN_JSON, '$1') : body)

/** Returns a header that the SDK wrote, without the mark. */
export const numberInHeader = (header: string): string => header.replace(IN_HEADER, '')

/**
 * Parses a server's message. Numbers in a result's content, in its questions and in schemas of tools are marked. Throws
 * as `JSON.parse` does.
 */
export function parseMessage(text: string): unknown {
  const message: unknown = JSON.parse(text)
  if (!mayChange(text)) return message
  const exact = parseExact(text)
  for (const [index, one] of [message].flat().entries()) mark(one, [exact].flat()[index])
  return message
}

function mark(message: unknown, exact: unknown): void {
  if (!isObject(message) || !isObject(exact) || !isObject(message.result) || !isObject(exact.result)) return
  const results = Object.entries(exact.result).filter(([name]) => MARKED_FIELDS.has(name))
  Object.assign(message.result, withMarks(Object.fromEntries(results)))
}
