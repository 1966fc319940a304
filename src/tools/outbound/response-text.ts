/** Reads response bodies up to a limit; nothing beyond it is read. */
import { setImmediate } from 'node:timers/promises'
import type { Response } from 'undici'
import { BREAK_BYTES } from '../../untrusted/pieces.ts'
import { createStage } from './stage.ts'

/** Reads at most `maxBytes` of the (decompressed) body. `whole` false: there was more, and the connection is closed. */
export async function readBytes(response: Response, maxBytes: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const { chunks, whole } = await readChunks(response, maxBytes)
  return { bytes: Buffer.concat(chunks), whole }
}

/** The same in chunks, yielding to the event loop now and then: decompressed chunks are all available at once. */
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

/** `{type: 'text/html', charset: 'utf-8'}`, lower case; empty strings when absent. */
export function mediaTypeOf(response: Response): { type: string; charset: string } {
  const value = response.headers.get('content-type')?.toLowerCase() ?? ''
  const [, charset = ''] = /;\s*charset\s*=\s*"?([^\s;"]+)/.exec(value) ?? []
  return { type: value.split(/[;,]/, 1)[0]?.trim() ?? '', charset }
}

/** Judged by the media type or, without one, by the first bytes. */
export function isText(type: string, bytes: Uint8Array): boolean {
  if (type === '') return !bytes.subarray(0, 1024).includes(0)
  return (
    /^text\/|[/+](json|xml|yaml|x-yaml|toml)$/.test(type) ||
    /^application\/(json|x-ndjson|jsonl|javascript|ecmascript|graphql|sql|x-sh|x-www-form-urlencoded)\b/.test(type)
  )
}
