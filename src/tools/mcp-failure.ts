/** Why an MCP server did not do what was asked: in words for a model, and whether asking again is safe. */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'
import { callFailure } from './call-failure.ts'
import { McpStatusError } from './mcp-fetch.ts'
import { BROKEN_STREAM } from './mcp-transport.ts'
import { OutboundError } from './outbound.ts'

/** A transport's answer to a session that it does not know (any more), or to words that it does not speak. */
const REFUSED_SESSION = new Set([400, 404, 410])
/** The 2026-07-28 revision's "these headers do not fit" and "I do not speak this version": asked before a call runs. */
const REFUSED_REQUEST = new Set([-32_020, -32_022])
/** No connection was made, so nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'OUTBOUND_REFUSED',
])
const MAX_WORDS = 2_000

/** HTTP status of the answer that a transport made an error of; null where it is none. */
export function statusOf(error: unknown): number | null {
  if (error instanceof McpStatusError || error instanceof SdkHttpError) return error.status ?? null
  return error instanceof SseError ? (error.code ?? null) : null
}

/** The server said so before it did anything, or never heard of it: the same call on a new connection is no second one. */
export function wasNotExecuted(error: unknown): boolean {
  if (error instanceof ProtocolError) return REFUSED_REQUEST.has(error.code)
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true
  const status = statusOf(error)
  if (status !== null) return REFUSED_SESSION.has(status)
  return causesOf(error).some((cause) => 'code' in cause && NOT_CONNECTED.has(String(cause.code)))
}

/** The server refused the call or its tool: it answered, with an error of its own. */
export const isAnswer = (error: unknown): error is ProtocolError =>
  error instanceof ProtocolError && error.code !== BROKEN_STREAM

/** One sentence or the server's own words; no address of ours, no stack. */
export function mcpFailure(error: unknown): string {
  if (isAnswer(error)) return error.message.slice(0, MAX_WORDS)
  const isClosed = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
  if (isClosed || error instanceof ProtocolError) return 'The connection broke before the answer came.'
  const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
  if (isTimeout || (error instanceof DOMException && error.name === 'TimeoutError'))
    return 'The MCP server does not answer.'
  const refusal = causesOf(error).find((cause) => cause instanceof OutboundError)
  if (refusal !== undefined) return refusal.message
  const status = statusOf(error)
  if (status !== null) return `The MCP server answered with HTTP status ${status}.`
  // What has no cause and no code of the system speaks of the protocol, the others of the network.
  const [first, ...causes] = causesOf(error)
  const isOurs = first instanceof SdkError || (first !== undefined && !('code' in first))
  return isOurs && causes.length === 0 ? first.message.slice(0, MAX_WORDS) : callFailure(error)
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let at: unknown = error; at instanceof Error && causes.length < 5; at = at.cause) causes.push(at)
  return causes
}
