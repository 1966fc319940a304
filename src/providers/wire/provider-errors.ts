/** What a provider says went wrong: statuses, bodies and error objects of many makes, read into one problem. */
import { isObject } from '../../untrusted/is-object.ts'
import { type ProviderAnswer, readText } from '../request/fetch.ts'
import { ProviderProblem } from './failure.ts'
import { type Fields, parse } from './provider-json.ts'

/** More of an error body is neither shown nor stored. */
const errorBodyBytes = 64 * 1024

/** Reads the body of an answer that is not 2xx, as much as is of use. */
export async function problemOfAnswer(answer: ProviderAnswer, method: string, url: string): Promise<ProviderProblem> {
  const { status, headers } = answer
  const text = await readText(answer, errorBodyBytes).catch(() => '')
  const redirected = status >= 300 && status < 400
  return new ProviderProblem({
    kind: 'answered',
    status,
    reason: redirected ? 'a redirect, which is not followed; the base URL may be wrong' : wordsOf(text),
    full: `${method} ${url} answered ${status}: ${text || 'no body'}`,
    retryAfterMs: retryAfter(headers, Date.now()) ?? retryDelay(text),
    ...(headers.get('x-should-retry') === 'false' && { retry: false }),
    // Google answers 400 to a key that it does not know, and gives the reason among the details.
    ...(/"API_KEY_INVALID"/.test(text) && { keyRefused: true }),
  })
}

/**
 * How long a provider asks to be left alone, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a
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

/** Google's RetryInfo, `"retryDelay": "17s"` among an error's details: milliseconds, null when there is none. */
function retryDelay(body: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}

/** The message within an error body: JSON in the usual shapes, or plain text; markup says nothing to a reader. */
function wordsOf(body: string): string {
  const text = body.trim()
  return messageIn(parse(text)) ?? (text.startsWith('<') ? '' : text)
}

/** `{error: {message}}`, `{error: text}`, `{message}`, `{detail: [{msg}]}`, `{errors: [{message}]}`, or a list around one. */
function messageIn(value: unknown, levels = 5): string | null {
  if (typeof value === 'string') return value
  if (levels === 0) return null
  if (Array.isArray(value)) return messageIn(value[0], levels - 1)
  if (!isObject(value)) return null
  for (const name of ['error', 'message', 'detail', 'errors', 'msg']) {
    const found = messageIn(value[name], levels - 1)
    if (found) return found
  }
  return null
}

/** An error behind status 200, in whatever shape. `content`: fields of a chunk that is none. Null when it is no error. */
export function errorIn(chunk: Fields, content: readonly string[]): unknown {
  if (chunk.error) return chunk.error
  if (content.some((name) => chunk[name] !== undefined && chunk[name] !== null)) return null
  const isSaid = typeof chunk.message === 'string' || Boolean(chunk.detail) || Array.isArray(chunk.errors)
  return isSaid ? chunk : null
}

/** The form of an error sent within a stream: `{message, code?, status?, type?}` or plain words. */
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
  const marks = [error.status, error.status_code, error.code, error.type]
  for (const mark of marks) {
    const number = Number(typeof mark === 'string' || typeof mark === 'number' ? mark : Number.NaN)
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number
  }
  const names = marks.filter((mark) => typeof mark === 'string')
  return named.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? null
}
