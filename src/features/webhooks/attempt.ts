/** A single attempt to deliver an event to a receiver. */
import { signedHeaders } from './signature.ts'

/** An HTTP exchange with an address that an administrator chose. Follows no redirect. */
export type Call = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<{
  status: number
  headers: Pick<Headers, 'get'>
  read(take: (bytes: Uint8Array) => undefined): Promise<void>
  cancel(): void
}>

export interface AttemptOptions {
  call: Call
  /** Explains why a call failed, in one sentence. */
  failureOf(error: unknown): string
  /** Default: 15 s. */
  timeoutMs?: number
}

export interface Message {
  id: string
  url: string
  /** The webhook's secrets in plain text, the newest first. */
  secrets: readonly string[]
  body: string
}

/** The result of an attempt. If `error` is null, the receiver has accepted the event. */
export interface Answer {
  /** Null when there was no answer. */
  status: number | null
  error: string | null
  /** The wait that the receiver asks for, an hour at most. Null when it asks for none. */
  retryAfterMs?: number | null
}

const ATTEMPT_MS = 15_000

/** Most bytes of the answer's body that are read, so that the connection can be used again. */
const MOST_READ = 64 * 1024

/** Returns where a redirect leads, without its query, which may hold a secret. Empty for any other answer. */
function leadsTo(status: number, headers: Pick<Headers, 'get'>, base: string): string {
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  const to = location === null ? null : URL.parse(location, base)
  return to === null ? '' : `, which leads to ${`${to.protocol}//${to.host}${to.pathname}`.slice(0, 500)}`
}

const MOST_WAIT_MS = 3_600_000

/** Reads `retry-after`, in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Pick<Headers, 'get'>): number | null {
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, MOST_WAIT_MS) : null
}

/** Rejects only when `stopped` aborts. */
export async function attempt(
  { call, failureOf, timeoutMs = ATTEMPT_MS }: AttemptOptions,
  { id, url, secrets, body }: Message,
  stopped: AbortSignal,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([timeout, stopped])
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = { 'content-type': 'application/json', ...signedHeaders({ id, timestamp, body }, secrets) }
  try {
    const answer = await call(url, { method: 'POST', headers, body, signal })
    let length = 0
    answer
      .read((bytes) => {
        length += bytes.length
        if (length > MOST_READ) answer.cancel()
      })
      .catch(() => {}) // the status has said it all
    const { status } = answer
    if (status >= 200 && status < 300) return { status, error: null }
    const error = `The receiver answered with status ${status}${leadsTo(status, answer.headers, url)}.`
    return { status, error, retryAfterMs: retryAfter(answer.headers) }
  } catch (error) {
    stopped.throwIfAborted()
    if (timeout.aborted) return { status: null, error: `There was no answer within ${timeoutMs / 1000} s.` }
    return { status: null, error: failureOf(error) }
  }
}
