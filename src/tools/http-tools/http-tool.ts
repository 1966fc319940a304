/** A call of an HTTP tool (contract section 6). */
import type { Response } from 'undici'
import type { MessagePart } from '../../actors/ports/index.ts'
import { startDeadline } from '../../async/deadline.ts'
import { partyOf, type ReplyValues, valuesWithoutSession } from '../../templates/placeholders.ts'
import { removeSecrets, secretsInHeaders } from '../../untrusted/redact.ts'
import { cutToBytes, decodeText } from '../built-in/page-text.ts'
import { callFailure } from '../outbound/call-failure.ts'
import { challengeWords } from '../outbound/challenge.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { isText, mediaTypeOf, readBytes } from '../outbound/response-text.ts'
import { MAX_PICTURE_BYTES, pictureNote, toolPicture } from '../tool-picture.ts'
import {
  type Arguments,
  fillBody,
  fillHeaders,
  fillUrl,
  isJsonTemplate,
  namesIn,
  TemplateError,
} from './http-template.ts'

/** The record with its header values in plain text. */
export interface HttpTool {
  id: string
  name: string
  description: string
  /** The method: GET, POST, PUT, DELETE or PATCH. */
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  inputSchema: Record<string, unknown> | null
}

export interface HttpToolResult {
  /** True when the response was 2xx. */
  ok: boolean
  /** The status. Null when there was no response. */
  status: number | null
  /** The text for the model: status and text, at most 256 KiB of UTF-8. */
  content: string
  /** The text of the response alone, within the same limit. Null when there was none. */
  body: string | null
  /** The response as a picture. Absent when it is none. */
  pictures?: readonly [MessagePart]
}

export interface HttpToolLimits {
  /** The limit of the whole call. Milliseconds. */
  timeoutMs: number
  /** The most bytes of text for the model, as UTF-8. */
  maxBytes: number
  redirects: number
}

const contractLimits: HttpToolLimits = { timeoutMs: 30_000, maxBytes: 256 * 1024, redirects: 5 }

/**
 * Calls an HTTP tool. Rejects only with the signal's reason, on abort. Every other outcome is a result for the model.
 * `key` is the idempotency key, sent with every method but GET. It is null when the call is not part of a reply.
 * `values` are those of its session.
 */
export async function callHttpTool(
  outbound: Outbound,
  tool: HttpTool,
  args: Arguments,
  signal: AbortSignal,
  key: string | null = null,
  values: ReplyValues = valuesWithoutSession(),
  limits: HttpToolLimits = contractLimits,
): Promise<HttpToolResult> {
  using deadline = startDeadline(signal, limits.timeoutMs)
  try {
    const request = requestOf(tool, args, values)
    const response = await outbound.fetch(request.url, {
      chosenBy: 'admin',
      method: tool.method,
      headers: key === null || tool.method === 'GET' ? request.headers : withKey(request.headers, key),
      plainHeaders: { accept: '*/*', 'user-agent': 'Greenroom' },
      body: request.body,
      redirects: limits.redirects,
      signal: deadline.signal,
      of: partyOf(values),
    })
    return await resultOf(response, limits.maxBytes, secretsInHeaders({ ...tool.headers }))
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.expired()) return failed(`The call failed: no whole answer within ${limits.timeoutMs / 1000} s.`)
    return failed(error instanceof TemplateError ? error.message : callFailure(error))
  }
}

/** Adds the key to the configured headers, which are sent to no other origin. A configured header of that name wins. */
const withKey = (headers: Record<string, string>, key: string): Record<string, string> =>
  hasHeader(headers, 'idempotency-key') ? headers : { ...headers, 'idempotency-key': key }

const hasHeader = (headers: Record<string, string>, name: string): boolean =>
  Object.keys(headers).some((one) => one.toLowerCase() === name)

const failed = (content: string): HttpToolResult => ({ ok: false, status: null, content, body: null })

/** Builds the request. Throws TemplateError. */
function requestOf(tool: HttpTool, args: Arguments, values: ReplyValues) {
  const inQuery = tool.method === 'GET' || tool.method === 'DELETE'
  // A GET has no body, so the names in its body template do not count.
  const template = tool.method === 'GET' ? null : tool.body || null
  const named = new Set([tool.url, ...Object.values(tool.headers), template ?? ''].flatMap(namesIn))
  const unnamed = Object.fromEntries(Object.entries(args).filter(([name]) => !named.has(name)))
  const url = fillUrl(tool.url, args, inQuery ? unnamed : {}, values)
  const headers = fillHeaders(tool.headers, args, values)
  const body = template !== null ? fillBody(template, args, values) : inQuery ? null : JSON.stringify(unnamed)
  if (body !== null && !hasHeader(headers, 'content-type')) {
    headers['content-type'] = template === null || isJsonTemplate(template) ? 'application/json' : 'text/plain'
  }
  return { url, headers, body }
}

async function resultOf(response: Response, maxBytes: number, secrets: string[]): Promise<HttpToolResult> {
  const { ok, status } = response
  const { type, charset } = mediaTypeOf(response)
  const words = removeSecrets(response.statusText, secrets).slice(0, 100)
  const head = `Status ${status}${words && ` ${words}`}\n\n`
  const { bytes, whole } = await readBytes(response, /^image\/(?!svg)/.test(type) ? MAX_PICTURE_BYTES : maxBytes)
  const picture = whole ? toolPicture(bytes) : null
  if (picture !== null) {
    const body = pictureNote(picture)
    return { ok, status, content: head + body, body, pictures: [picture] }
  }
  const note = `\n[cut at ${Math.floor(maxBytes / 1024)} KiB]`
  const challenge = bytes.length === 0 ? removeSecrets(challengeWords(status, response.headers), secrets) : ''
  if (challenge !== '') return { ok, status, content: head + challenge, body: '' }
  if (!isText(type, bytes)) {
    const body = `(not text: ${type.slice(0, 100) || 'unknown type'})`
    return { ok, status, content: head + body, body }
  }
  const content = cutToBytes(head + removeSecrets(decodeText(bytes, charset, !whole), secrets), maxBytes, note, !whole)
  return { ok, status, content, body: content.slice(head.length) }
}
