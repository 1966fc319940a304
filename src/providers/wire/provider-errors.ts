/** Errors of providers: statuses, bodies and error objects of many makes, read into one problem. */
import { isObject } from '../../untrusted/is-object.ts'
import { type ProviderAnswer, readText } from '../request/fetch.ts'
import { malformed, ProviderProblem } from './failure.ts'
import { type Fields, parse } from './provider-json.ts'

/** The most bytes of an error body that are shown or stored. */
const errorBodyBytes = 64 * 1024

/** Reads the start of a response body whose status is not 2xx. */
export async function problemOfAnswer(answer: ProviderAnswer, method: string, url: string): Promise<ProviderProblem> {
  const { status, headers } = answer
  const text = await readText(answer, errorBodyBytes).catch(() => '')
  const redirected = status >= 300 && status < 400
  const through = answer.proxy === undefined ? '' : ` (the proxy ${answer.proxy} was asked)`
  const words = redirected ? 'a redirect, which is not followed; the base URL may be wrong' : wordsOf(text)
  return new ProviderProblem({
    kind: 'answered',
    status,
    reason: `${words}${through}`.trim(),
    full: `${method} ${url} answered ${status}: ${text || 'no body'}${through}`,
    retryAfterMs: retryAfter(headers, Date.now()) ?? retryDelay(text),
    ...(headers.get('x-should-retry') === 'false' && { retry: false }),
    // Google answers 400 to an unknown key, and gives the reason among the details.
    ...(/"API_KEY_INVALID"/.test(text) && { keyRefused: true }),
  })
}

/**
 * Returns the wait that a provider requests, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a
 * date (RFC 9110, 10.2.3). Null when it does not say.
 */
export function retryAfter(headers: Pick<Headers, 'get'>, now: number): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1000 : null
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/**
 * Reads Google's RetryInfo, `"retryDelay": "17s"` among an error's details. Returns milliseconds, or null when there is
 * none.
 */
function retryDelay(body: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}

/** Finds the message in an error body: JSON in the usual shapes, or plain text. Markup is no message. */
function wordsOf(body: string): string {
  const text = body.trim()
  return messageIn(parse(text)) ?? (text.startsWith('<') ? '' : text)
}

/** The fields that hold an error's message, or an object or list around them. */
const wordFields = ['error', 'message', 'detail', 'errors', 'msg', 'error_msg', 'status_msg', 'base_resp']

/**
 * Finds the message in `{error: {message}}`, `{error: text}`, `{detail: [{msg}]}`, `{errors: {field: text}}` and their
 * like. Null for no words.
 */
function messageIn(value: unknown, levels = 5): string | null {
  if (typeof value === 'string') return value
  if (levels === 0) return null
  if (Array.isArray(value)) return messageIn(value[0], levels - 1)
  if (!isObject(value)) return null
  for (const name of wordFields) {
    const found = messageIn(value[name], levels - 1)
    if (found) return found
  }
  return isObject(value.errors) ? messageIn(Object.values(value.errors), levels - 1) : null
}

/** Returns whether an error says nothing: `""`, `{}`, or nothing but empty fields. Some servers send it beside text. */
export const saysNothing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null
    ? Object.values(error).every(saysNothing)
    : !error || (typeof error === 'string' && error.trim() === '')

/**
 * Finds an error under status 200, in any shape. `content`: fields that only a chunk has. Returns null when there is no
 * error.
 */
export function errorIn(chunk: Fields, content: readonly string[]): unknown {
  const { error } = chunk
  if (saysNothing(error) && content.some((name) => holdsAny(chunk[name]))) return null
  // With `error: true` the message is in another field.
  if (error) return typeof error === 'object' || typeof error === 'string' ? error : chunk
  if (content.some((name) => holdsAny(chunk[name])) || isSuccess(chunk)) return null
  if (statusNumberIn(chunk) !== null) return chunk
  const words = messageIn(chunk)
  // Next to an empty list or counts, a message is an error only where more than an unknown code indicates that.
  const isBeside = Array.isArray(chunk.choices) || holdsAny(chunk.usage)
  if (Array.isArray(chunk.errors) && chunk.errors.length > 0) return chunk
  if (words === null && !chunk.detail) return chunk.message === '' && hasCode(chunk) && !isBeside ? chunk : null
  if (chunk.success === false) return chunk
  if (words !== null && /^(?:ok|success|done)[.!]?$/i.test(words.trim())) return null
  if (isBeside) return hasCode({ base_resp: chunk.base_resp }) ? chunk : null
  // A `msg` alone is an error only with a code.
  const isMsg = messageIn({ ...chunk, msg: null }) === null && !chunk.detail
  return isMsg && !hasCode(chunk) ? null : chunk
}

/**
 * Returns whether the object is an error whose `type` is no event's: `{object: "error", message, type: "BadRequest",
 * code: 400}`, vLLM's.
 */
export const isTypedError = (event: Fields): boolean =>
  messageIn(event) !== null &&
  (event.object === 'error' ||
    statusNumberIn(event) !== null ||
    (typeof event.type === 'string' && /error$/i.test(event.type)))

/**
 * Returns the problem of text that is no JSON object: an error's message in an error event, otherwise malformed data.
 */
export const problemOfText = (data: string, eventName: string | undefined): ProviderProblem =>
  eventName === 'error' ? problemInStream(wordsOf(data), data) : malformed(data)

/**
 * Returns the problem of plain text in place of a stream, often a proxy's: nothing was generated, and another attempt
 * may reach the provider.
 */
export const problemOfWords = (text: string): ProviderProblem =>
  new ProviderProblem({
    kind: 'reported',
    reason: wordsOf(text),
    full: `The answer is no stream but words: ${text}`,
    retry: true,
  })

/**
 * Returns whether the value has content: a list with items, an object with a value that is not empty, or any other
 * value.
 */
function holdsAny(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.values(value).some(holdsAny) : Boolean(value)
}

/** Codes of success, apart from zeros. Some servers send one, with a message, in every response. */
const successCodes = new Set(['200', '10000', '20000', 'ok', 'success'])

const isSuccessCode = (code: string | number): boolean =>
  successCodes.has(String(code).toLowerCase()) || /^0+$/.test(String(code))

function isSuccess(chunk: Fields): boolean {
  if (chunk.success === false) return false
  const codes = codesIn(chunk)
  return (codes.length > 0 && codes.every(isSuccessCode)) || chunk.success === true
}

/** Returns whether the object has a code other than one of success. */
const hasCode = (chunk: Fields): boolean => !codesIn(chunk).every(isSuccessCode)

/** Returns the codes of an object. MiniMax has its code within `base_resp`. */
const codesIn = (error: Fields): (string | number)[] =>
  [
    ...[error.status_code, error.code, error.error_code],
    isObject(error.base_resp) ? error.base_resp.status_code : null,
  ].filter(isMark)

const isMark = (value: unknown): value is string | number =>
  (typeof value === 'string' && value !== '') || typeof value === 'number'

/** Converts an error within a stream: `{message, code?, status?, type?}` or plain words. */
export function problemInStream(error: unknown, whole: string): ProviderProblem {
  const status = isObject(error) ? statusIn(error) : null
  return new ProviderProblem({
    kind: status === null ? 'reported' : 'answered',
    status,
    reason: messageIn(error) ?? '',
    full: `The stream carried an error: ${whole}`,
    retryAfterMs: retryDelay(whole),
  })
}

/** Statuses for the names that vendors use where they send no number. */
const named: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_many_requests|insufficient_quota/i, 429],
  [/authentication|invalid_api_key|unauthorized|permission/i, 401],
  [/time_?d?_?out/i, 504],
  [/overloaded|unavailable/i, 503],
  [/server_error|internal|^api_error$/i, 500],
]

function statusIn(error: Fields): number | null {
  const number = statusNumberIn(error)
  if (number !== null) return number
  const names = marksIn(error).filter((mark) => typeof mark === 'string')
  return named.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? null
}

const statusNumberIn = (error: Fields): number | null =>
  marksIn(error)
    .map(Number)
    .find((number) => Number.isInteger(number) && number >= 400 && number <= 599) ?? null

/** Returns the values that may name a status, by number or in words. */
const marksIn = (error: Fields) => [error.status, ...codesIn(error), error.type].filter(isMark)
