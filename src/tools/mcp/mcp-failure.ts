/** Failures of requests to MCP servers: their reason, for a model to read, and the safety of a retry. */
import {
  extractWWWAuthenticateParams,
  INTERNAL_ERROR,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
} from '@modelcontextprotocol/client'
import type { MissingServer } from '../../actors/reply/reply-event.ts'
import { callFailure } from '../outbound/call-failure.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import { type FetchWatch, McpStatusError } from './mcp-fetch.ts'
import { saysSessionIsLost, speaksOfSession, wordsIn } from './mcp-words.ts'

/** Our error code for a response that will not come; no server uses it (JSON-RPC reserves -32099 to -32000). */
export const BROKEN_STREAM = -31_999

/** Statuses for an unknown or expired session, or for a request the server does not understand. */
const REFUSED_SESSION = new Set([400, 404, 410])
/** The 2026-07-28 revision's errors for mismatched headers and unsupported versions: sent before a call runs. */
const REFUSED_REQUEST = new Set([-32_020, -32_022])
/** The codes of calls without a connection, in which nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'OUTBOUND_REFUSED',
])
const MAX_MESSAGE_LENGTH = 2_000
const MAX_READ = 64 * 1024

/** The demand of a server for a grant, or for one with more scopes. */
export interface Challenge {
  status: number
  error?: string
  scope?: string
  /** The address of the server's metadata. */
  metadata?: string
}

const challenges = new WeakMap<object, Challenge>()

/** Notes the challenge that came with an error, if it is one of 401 or 403. Returns the error. */
export function challenged(error: unknown, { refusal }: Pick<FetchWatch, 'refusal'>): unknown {
  if (refusal === undefined || !(error instanceof Error) || statusOf(error) !== refusal.status) return error
  const { status, header } = refusal
  const answer = new Response(null, { headers: header === '' ? {} : { 'www-authenticate': header } })
  const { error: code, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer)
  challenges.set(error, {
    status,
    ...(code !== undefined && { error: code }),
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl !== undefined && { metadata: resourceMetadataUrl.href }),
  })
  return error
}

/** Returns the challenge that came with an error. */
export const challengeOf = (error: unknown): Challenge | undefined =>
  error instanceof Error ? challenges.get(error) : undefined

/** Returns the HTTP status of the response that caused a transport's error. */
function statusOf(error: unknown): number | null {
  if (error instanceof McpStatusError || error instanceof SdkHttpError) return error.status ?? null
  if (error instanceof InsufficientScopeError) return 403
  return error instanceof SseError ? (error.code ?? null) : null
}

/**
 * Returns whether the server refused the call before running it, or never received it: a retry cannot execute it twice.
 */
export function wasNotExecuted(error: unknown): boolean {
  if (error instanceof ProtocolError) {
    // A tool of its own may speak of sessions too; servers report what went wrong inside a tool as an internal error.
    const isLost = error.code !== INTERNAL_ERROR && isAnswer(error) && saysSessionIsLost(error.message)
    return isLost || REFUSED_REQUEST.has(error.code)
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true
  const status = statusOf(error)
  if (status !== null) return REFUSED_SESSION.has(status) || saysSessionIsLost(wordsOf(error) ?? '')
  return causesOf(error).some((cause) => 'code' in cause && NOT_CONNECTED.has(String(cause.code)))
}

/** Returns whether the session may be lost. The call may have been carried out all the same. */
export const maySessionBeLost = (error: unknown): boolean =>
  speaksOfSession(isAnswer(error) ? error.message : (wordsOf(error) ?? ''))

/** Statuses that do not say whether the request was looked at. */
const UNCERTAIN = new Set([408, 425, 499])

/** Returns whether the server, or a gateway before it, has refused the request. */
export function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status !== null && status >= 400 && status < 500 && !UNCERTAIN.has(status)
}

/** Returns whether the server answered with an error of its own. */
export const isAnswer = (error: unknown): error is ProtocolError =>
  error instanceof ProtocolError && error.code !== BROKEN_STREAM

/** Describes a failure in one sentence, or in the server's own message; no address of ours, no stack. */
export function mcpFailure(error: unknown): string {
  if (isAnswer(error)) return error.message.slice(0, MAX_MESSAGE_LENGTH)
  const isClosed = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
  if (isClosed || error instanceof ProtocolError) return 'The connection broke before the answer came.'
  const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
  if (isTimeout || (error instanceof DOMException && error.name === 'TimeoutError'))
    return 'The MCP server does not answer.'
  const refusal = causesOf(error).find((cause) => cause instanceof OutboundError)
  if (refusal !== undefined) return refusal.message
  const status = statusOf(error)
  if (status !== null) {
    const words = wordsOf(error)
    const answered = `The MCP server answered with HTTP status ${status}`
    return words === null ? `${answered}.` : `${answered}: ${words.slice(0, MAX_MESSAGE_LENGTH)}`
  }
  // An error without a cause or a system code is about the protocol, any other about the network.
  const [first, ...causes] = causesOf(error)
  const isOurs = first instanceof SdkError || (first !== undefined && !('code' in first))
  return isOurs && causes.length === 0 ? first.message.slice(0, MAX_MESSAGE_LENGTH) : callFailure(error)
}

/** Returns the message of a response with an error status. Null when it has none that a model could read. */
function wordsOf(error: unknown): string | null {
  const text = textOf(error)
  if (typeof text !== 'string' || text.length > MAX_READ) return null
  const said = text.trim()
  if (said === '' || said.startsWith('<')) return null
  try {
    return wordsIn(JSON.parse(said))
  } catch {
    return said
  }
}

function textOf(error: unknown): unknown {
  if (error instanceof McpStatusError) return error.text
  if (!(error instanceof SdkHttpError)) return null
  const { text }: { text?: unknown } = Object(error.data)
  return text
}

/** The codes of answers that came, but cannot be read: they are no HTTP, or badly compressed. */
const UNREADABLE = /^HPE_|^Z_|BROTLI|ZSTD/

/** Returns why a server that gave no list of tools is missing. `wasLate`: the time for it was over. */
export function missingReason(error: unknown, wasLate: boolean): MissingServer['reason'] {
  if (wasLate) return 'unreachable'
  const status = statusOf(error)
  if (status === 401 || status === 403) return 'unauthorized'
  if (status !== null) return status === 408 || status === 429 || status >= 500 ? 'unreachable' : 'invalid'
  if (isAnswer(error)) return 'invalid'
  if (error instanceof ProtocolError || isConnectionError(error)) return 'unreachable'
  const causes = causesOf(error)
  if (causes.some((cause) => cause instanceof OutboundError)) return 'unreachable'
  const codes = causes.flatMap((cause) => ('code' in cause && !(cause instanceof SdkError) ? String(cause.code) : []))
  return codes.length > 0 && !codes.some((code) => UNREADABLE.test(code)) ? 'unreachable' : 'invalid'
}

const LOST = new Set<SdkErrorCode>([
  SdkErrorCode.NotConnected,
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.RequestTimeout,
])

const isConnectionError = (error: unknown): boolean =>
  (error instanceof SdkError && LOST.has(error.code)) ||
  (error instanceof DOMException && error.name === 'TimeoutError')

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let at: unknown = error; at instanceof Error && causes.length < 5; at = at.cause) causes.push(at)
  return causes
}
