/** `web_fetch`: one page, in a form that a model can read (specification 2.4, contract section 6). */
import type { Response } from 'undici'
import { startDeadline } from '../../async/deadline.ts'
import { callFailure } from '../outbound/call-failure.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { isText, mediaTypeOf, readChunks } from '../outbound/response-text.ts'
import type { BuiltInTool } from './built-in-tools.ts'
import { htmlToMarkdown, MarkdownError } from './html-to-markdown.ts'
import { cutToBytes, decodeText } from './page-text.ts'

export interface WebFetchLimits {
  /** The limit of the whole call, conversion included. Milliseconds. */
  timeoutMs: number
  /** The most bytes of the downloaded page, decompressed; the rest is not read. */
  maxPageBytes: number
  /** The most bytes of text for the model, as UTF-8: 5 MiB of text is ten times what any model accepts. */
  maxBytes: number
  redirects: number
}

const contractLimits: WebFetchLimits = {
  timeoutMs: 20_000,
  maxPageBytes: 5 * 1024 * 1024,
  maxBytes: 256 * 1024,
  redirects: 5,
}

const NOTE = '\n\n[cut here: the page is longer]'

/** The header that identifies the caller, so that sites can refuse such readers. */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Greenroom web_fetch; one page on behalf of a chat user)',
  accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5',
  'accept-language': 'en, *;q=0.5',
}

export const webFetch: BuiltInTool = {
  id: 'web_fetch',
  name: 'web_fetch',
  description: 'Fetches static content from a public URL and returns it as Markdown.',
  inputSchema: {
    type: 'object',
    properties: { url: { type: 'string', description: 'http or https URL of the page.' } },
    required: ['url'],
    additionalProperties: false,
  },
  call: ({ url }, { outbound, signal, of }) => fetchPage({ outbound, of }, url, signal),
}

/** Fetches a page. Rejects only with the signal's reason, on abort. Every other outcome is a result for the model. */
export async function fetchPage(
  { outbound, of }: { outbound: Outbound; of: string },
  url: unknown,
  signal: AbortSignal,
  limits: WebFetchLimits = contractLimits,
): Promise<{ ok: boolean; content: string }> {
  if (typeof url !== 'string') return { ok: false, content: 'The argument "url" must be a string.' }
  using deadline = startDeadline(signal, limits.timeoutMs)
  try {
    const response = await outbound.fetch(url.trim(), {
      chosenBy: 'model',
      plainHeaders: HEADERS,
      redirects: limits.redirects,
      signal: deadline.signal,
      of,
    })
    return await readPage(response, { of, signal: deadline.signal }, limits)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.expired()) return { ok: false, content: `No whole answer within ${limits.timeoutMs / 1000} s.` }
    return { ok: false, content: error instanceof MarkdownError ? error.message : callFailure(error) }
  }
}

async function readPage(response: Response, asked: { of: string; signal: AbortSignal }, limits: WebFetchLimits) {
  const { ok, status, url } = response
  const { type, charset } = mediaTypeOf(response)
  const { chunks, whole } = await readChunks(response, limits.maxPageBytes)
  const head = ok ? '' : `The server answered ${status}.\n\n`
  if (isHtml(type, startOf(chunks))) {
    const maxBytes = limits.maxBytes - Buffer.byteLength(head)
    return {
      ok,
      content: head + (await htmlToMarkdown({ chunks, url, charset, maxBytes, note: NOTE, cut: !whole }, asked)),
    }
  }
  // UTF-16 has two bytes where UTF-8 has one: nothing beyond this survives the cut.
  const bytes = Buffer.concat(chunks, Math.min(lengthOf(chunks), 2 * limits.maxBytes + 2))
  if (!isText(type, bytes)) {
    return { ok: false, content: `${head}The content is not text (${type.slice(0, 100) || 'of unknown type'}).` }
  }
  const cut = !whole || bytes.length < lengthOf(chunks)
  return { ok, content: cutToBytes(head + decodeText(bytes, charset, cut), limits.maxBytes, NOTE, cut) }
}

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0)

/** Returns the bytes needed to detect the type. */
const startOf = (chunks: readonly Uint8Array[]): Buffer => Buffer.concat(chunks, Math.min(lengthOf(chunks), 1024))

/** Returns whether a page is HTML. If it has no content type, its first bytes decide. */
function isHtml(type: string, bytes: Uint8Array): boolean {
  if (type !== '') return type === 'text/html' || type === 'application/xhtml+xml'
  return /^\s*<(!doctype html|html|head|body)\b/i.test(Buffer.from(bytes.subarray(0, 512)).toString('latin1'))
}
