/** What can go wrong: the server refuses, the reply fails, or nobody answers. Fields carry the wire's own words. */
import type { components } from './schema.ts'

/**
 * The server answered and refused. `message` is its own; on the management API it begins with the field that is to
 * blame. `type` and `code` where the answer has them (`invalid_request_error`, `invalid_api_key`).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly type: string | null
  readonly code: string | null
  /** Milliseconds; the server asked for this pause. */
  readonly retryAfterMs: number | null
  /** The same request may be taken later: 408, 425, 429 and 5xx, unless the server says that it will not be. */
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

/** `superseded`: it has ended, and the session has a newer reply. `unknown`: it failed, and why is told no longer. */
export type ReplyErrorCode = components['schemas']['StreamError']['error']['code'] | 'superseded' | 'unknown'

/** The reply failed: the error chunk that ended its stream. What was said before is stored with the session. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
  readonly type = 'server_error'
  readonly code: ReplyErrorCode
  readonly param = null
  /** Null: it failed before it had one. */
  readonly messageId: string | null
  /** What was read before. */
  readonly text: string

  constructor(code: ReplyErrorCode, message: string, reply: { messageId: string | null; text: string }) {
    super(message)
    this.code = code
    this.messageId = reply.messageId
    this.text = reply.text
  }
}

/** Nobody answers, or the connection broke and did not come back in time. `cause`: what happened last. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError'
  readonly type = 'connection_error'
  readonly code = 'connection_lost'
}

/** An answer that is no success, as what is thrown of it. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  // `{message}`, `{error: string}` or `{error: {message, type, code}}`
  const { message, error = message } = Object(body)
  const { message: said = error, type, code } = Object(typeof error === 'object' ? error : null)
  const { status, headers } = response
  const pauseS = Number(headers.get('retry-after') ?? Number.NaN)
  return new ApiError(status, typeof said === 'string' ? said : `The server answered with status ${status}.`, {
    type: typeof type === 'string' ? type : null,
    code: typeof code === 'string' ? code : null,
    retryAfterMs: pauseS >= 0 ? pauseS * 1000 : null,
    ...(headers.get('x-should-retry') === 'false' ? { passes: false } : {}),
  })
}
