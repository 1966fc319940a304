/** Reads response bodies up to a limit; nothing beyond it is read. */
import { setImmediate } from 'node:timers/promises'
import type { Response } from 'undici'
import { BREAK_BYTES } from '../../untrusted/pieces.ts'
import { markedEncoding } from '../built-in/page-text.ts'
import { createStage } from './stage.ts'

/** Reads at most `maxBytes` of the (decompressed) body. `whole` false: there was more, and the connection is closed. */
export async function readBytes(response: Response, maxBytes: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const { chunks, whole } = await readChunks(response, maxBytes)
  return { bytes: Buffer.concat(chunks), whole }
}

/** Reads the body in chunks, yielding to the event loop now and then: decompressed chunks are all available at once. */
export async function readChunks(
  response: Response,
  maxBytes: number,
): Promise<{ chunks: Uint8Array[]; whole: boolean }> {
  if (!response.body) return { chunks: [], whole: true }
  const stage = createStage()
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
  let length = 0
  let sinceBreak = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { chunks: stage.pieces(), whole: true }
      const left = maxBytes - length
      if (value.length > left) {
        stage.add(value.subarray(0, left))
        return { chunks: stage.pieces(), whole: false }
      }
      stage.add(value)
      length += value.length
      sinceBreak += value.length
      if (sinceBreak < BREAK_BYTES) continue
      sinceBreak = 0
      await setImmediate()
    }
  } finally {
    reader.cancel().catch(() => {}) // harmless after the end
  }
}

/** Returns the media type, such as `{type: 'text/html', charset: 'utf-8'}`, lower case; empty strings when absent. */
export function mediaTypeOf(response: Response): { type: string; charset: string } {
  const value = response.headers.get('content-type')?.toLowerCase() ?? ''
  const [, charset = ''] = /;\s*charset\s*=\s*"?([^\s;"]+)/.exec(value) ?? []
  return { type: value.split(/[;,]/, 1)[0]?.trim() ?? '', charset }
}

/** Matches types that servers use for unknown content. */
const UNSAID = /^(\*\/\*|(application|binary)\/octet-stream|(application|unknown)\/unknown)$/

/**
 * Returns whether content is text, by the media type or, where it does not say, by the bytes: those that are read,
 * which may end within a letter.
 */
export function isText(type: string, bytes: Uint8Array): boolean {
  if (type === '' && !bytes.subarray(0, 1024).includes(0)) return true
  if (type === '' || UNSAID.test(type)) return isWritten(bytes)
  return (
    /^text\/|[/+](json|x-json|xml|yaml|x-yaml|toml)$/.test(type) ||
    /^application\/(json|x-ndjson|jsonl|javascript|ecmascript|graphql|sql|x-sh|x-www-form-urlencoded)\b/.test(type)
  )
}

/** Returns whether bytes are Unicode whose only control characters are blanks and line ends. */
function isWritten(bytes: Uint8Array): boolean {
  try {
    const decoder = new TextDecoder(markedEncoding(bytes) ?? 'utf-8', { fatal: true })
    return !/(?!\s)\p{Cc}/u.test(decoder.decode(bytes, { stream: true }))
  } catch {
    return false
  }
}
