/** Decodes the bytes of an HTML page. Loaded in the child process that converts pages, and nowhere else. */
// @ts-expect-error: the package has no types
import sniffHtmlEncoding from 'html-encoding-sniffer'
import { decodeText, likelyEncoding } from './page-text.ts'

/**
 * Decodes a page by the encoding that browsers choose: byte order mark, `charset`, then what the page itself declares.
 */
export function decodeHtml(bytes: Uint8Array, charset: string, cut: boolean): string {
  const encoding: unknown = sniffHtmlEncoding(bytes, {
    ...(charset !== '' && { transportLayerEncodingLabel: charset }),
    defaultEncoding: likelyEncoding(bytes, cut),
  })
  return decodeText(bytes, String(encoding), cut)
}
