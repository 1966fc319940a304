/**
 * An answer other than success. Handlers throw it; the error handler of the scope turns it into `{message}`
 * (management, contract section 2) or `{error}` (deploy, specification 7.1).
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  /** Fit for the caller's eyes is `message`; this is the HTTP status that goes with it. */
  readonly status: number
  /** Sent with the answer, such as `retry-after` (seconds) or `x-should-retry`. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }

  /** The name under which Fastify looks for the status. */
  get statusCode(): number {
    return this.status
  }
}

/**
 * The reason why a credential of the deploy API is refused, as its answer names it (specification 7.1, contract section
 * 11).
 */
export type CredentialFault = 'invalid_api_key' | 'token_expired' | 'token_revoked'

/** An error that programs tell from others by its `code`, where the format of the answer has one. */
export class CodedError extends HttpError {
  readonly code: string

  constructor(status: number, message: string, code: string, headers: Readonly<Record<string, string>> = {}) {
    super(status, message, headers)
    this.code = code
  }
}

/** 401 of the deploy scope. */
export class Unauthorized extends CodedError {
  constructor(code: CredentialFault, message: string) {
    super(401, message, code)
  }
}

export const revokedSecret = () => new Unauthorized('token_revoked', 'The client secret was revoked.')

/** Throws 404, as `find(id) ?? missing('prompt')`. `kind` is a noun with a lower-case letter. */
export function missing(kind: string): never {
  throw new HttpError(404, `There is no such ${kind}.`)
}

/** Throws 400. Name the field first, then why: `providerId: there is no such provider`. */
export function badRequest(message: string): never {
  throw new HttpError(400, message)
}

/** Throws 409. */
export function conflict(message: string): never {
  throw new HttpError(409, message)
}
