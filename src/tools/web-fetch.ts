/** `web_fetch`: one page, as a model can read it (specification 2.4, contract section 6). */
import type { Response } from 'undici'
import type { BuiltInTool } from './built-in-tools.ts'
import { callFailure } from './call-failure.ts'
import { startDeadline } from './deadline.ts'
import { htmlToMarkdown, MarkdownError } from './html-to-markdown.ts'
import type { Outbound } from './outbound.ts'
import { cutToBytes, decodeHtml, decodeText, isText, mediaTypeOf, readBytes } from './response-text.ts'

export interface WebFetchLimits {
  /** Of the whole call, conversion included. Milliseconds. */
  timeoutMs: number
  /** Of the page as it is downloaded (decompressed); what is beyond is not read. */
  maxPageBytes: number
  /** Of what the model reads, UTF-8: 5 MiB of text are ten times what any model takes. */
  maxBytes: number
  redirects: number
}

const contractLimits: WebFetchLimits = {
  timeoutMs: 20_000,
  maxPageBytes: 5 * 1024 * 1024,
  maxBytes: 256 * 1024,
  redirects: 5,
}

/** Says who asks; sites that want no such readers can tell. */
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
  call: ({ url }, { outbound, signal }) => fetchPage(outbound, url, signal),
}

/** Rejects only with the signal's reason, when it aborts: everything else is a result that the model reads. */
export async function fetchPage(
  outbound: Outbound,
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
    })
    return await readPage(response, deadline.signal, limits)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.expired()) return { ok: false, content: `No whole answer within ${limits.timeoutMs / 1000} s.` }
    return { ok: false, content: error instanceof MarkdownError ? error.message : callFailure(error) }
  }
}

async function readPage(response: Response, signal: AbortSignal, limits: WebFetchLimits) {
  const { ok, status, url } = response
  const { type, charset } = mediaTypeOf(response)
  const { bytes, whole } = await readBytes(response, limits.maxPageBytes)
  const head = ok ? '' : `The server answered ${status}.\n\n`
  let text: string
  if (isHtml(type, bytes)) {
    text = await htmlToMarkdown({ html: decodeHtml(bytes, charset), url }, signal)
  } else if (isText(type, bytes)) {
    text = decodeText(bytes, charset)
  } else {
    return { ok: false, content: `${head}The content is not text (${type.slice(0, 100) || 'of unknown type'}).` }
  }
  const note = '\n\n[cut here: the page is longer]'
  return { ok, content: cutToBytes(head + text, limits.maxBytes, note, !whole) }
}

/** Servers that name no type, or all text alike, are told by the page's first letters. */
function isHtml(type: string, bytes: Uint8Array): boolean {
  if (type !== '') return type === 'text/html' || type === 'application/xhtml+xml'
  return /^\s*<(!doctype html|html|head|body)\b/i.test(Buffer.from(bytes.subarray(0, 512)).toString('latin1'))
}
