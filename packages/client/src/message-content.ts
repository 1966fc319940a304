/** The content of a message: text, or texts, pictures and files in their order. */
import type { components } from './schema.ts'

export type ContentPart = components['schemas']['ContentPart']

/** A text, or parts: `{ type: 'text', text }`, `{ type: 'image_url', image_url: { url } }` and those of `filePart`. */
export type MessageContent = string | ContentPart[]

/** The number of bytes encoded at a time: more arguments than this overflow the stack. */
const STEP_BYTES = 0x8000

/**
 * Returns a picture (PNG, JPEG, WebP, GIF) or file (PDF, plain text, Markdown, CSV) as a part. `type` and `name`: as
 * the file has them.
 */
export async function filePart(file: Blob, { type = file.type, name = nameOf(file) } = {}): Promise<ContentPart> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + STEP_BYTES))
  }
  const url = `data:${type};base64,${btoa(binary)}`
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { file_data: url, ...(name === undefined ? {} : { filename: name }) } }
}

const nameOf = (file: Blob): string | undefined =>
  'name' in file && typeof file.name === 'string' ? file.name : undefined
