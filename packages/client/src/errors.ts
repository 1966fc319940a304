/** The errors: the server refuses, the reply fails, or there is no answer. Fields are named as on the wire. */
import type { components } from './schema.ts'

/**
 * The server refused. `message` is its own; on the management API it begins with the field at fault. `type` and `code`
 * where the response has them (`invalid_request_error`, `invalid_api_key`).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly type: string | null
  readonly code: string | null
  /** Milliseconds; the server asked for this pause. */
  readonly retryAfterMs: number | null
  /** The same request may succeed later: 408, 425, 429 and 5xx, unless the server says otherwise. */
  readonly passes: boolean

  constructor(status: number, message: string, details: Partial<Omit<ApiError, keyof Error | 'status'>> = {}) {
    super(message)
    this.status = status
    this.type = details.type ?? null
    this.code = details.code ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.passes = details.passes ?? (status >= 500 || [408, 425, 429].includes(status))
  }
}

/** `superseded`: it has ended, and the session has a newer reply. `unknown`: it failed, and the reason is not known. */
export type ReplyErrorCode = components['schemas']['StreamError']['error']['code'] | 'superseded' | 'unknown'

/** The reply failed: the error chunk that ended its stream. The text before it is stored with the session. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
  readonly type = 'server_error'
  readonly code: ReplyErrorCode
  readonly param = null
  /** Null when it failed before it had one. */
  readonly messageId: string | null
  /** The text that was read before. */
  readonly text: string

  constructor(code: ReplyErrorCode, message: string, reply: { messageId: string | null; text: string }) {
    super(message)
    this.code = code
    this.messageId = reply.messageId
    this.text = reply.text
  }
}

/**
 * An error without an answer: the server could not be reached, or the connection broke and was not restored in time.
 * `cause`: the last failure.
 */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError'
  readonly type = 'connection_error'
  readonly code = 'connection_lost'
}

/** Returns the error for a response that is no success. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  // `{message}`, `{error: string}` or `{error: {message, type, code}}`
  const { message, error = message } = Object(body)
  const { message: reason = error, type, code } = Object(typeof error === 'object' ? error : null)
  const { status, headers } = response
  const pauseS = Number(headers.get('retry-after') ?? Number.NaN)
  return new ApiError(status, typeof reason === 'string' ? reason : `The server answered with status ${status}.`, {
    type: typeof type === 'string' ? type : null,
    code: typeof code === 'string' ? code : null,
    retryAfterMs: pauseS >= 0 ? pauseS * 1000 : null,
    ...(headers.get('x-should-retry') === 'false' ? { passes: false } : {}),
  })
}
