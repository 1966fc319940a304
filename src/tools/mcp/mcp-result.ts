/** The result of an MCP tool, as the text that a model reads. */

import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { MessagePart } from '../../actors/ports/index.ts'
import { parseExact } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { removeSecrets } from '../../untrusted/redact.ts'
import { cutToBytes } from '../built-in/page-text.ts'
import { pictureNote } from '../tool-picture.ts'
import { withNumbers } from './mcp-numbers.ts'

/** The most bytes of a result, the same as for HTTP tools (contract section 6). */
const MAX_BYTES = 256 * 1024
/** The most pairs of a text and a field to compare: an ordinary result has one, a hostile one a hundred million. */
const MAX_PAIRS = 400

/**
 * Returns the texts in order, with notes in place of other content, then the part of the structured content that no
 * text repeats. `pictures` are sent to the model with the text. The protocol asks servers to repeat structured content
 * as text, so most results hold everything twice.
 */
export function resultText(
  { content, structuredContent }: CallToolResult,
  secrets: readonly string[] = [],
  pictures: ReadonlyMap<ContentBlock, MessagePart> = new Map(),
): string {
  const parts = content.map((block) => blockText(block, pictures.get(block)))
  const rest = structuredContent === undefined ? undefined : notInTexts(withNumbers(structuredContent), parts)
  const all = rest === undefined ? parts : [...parts.filter((part) => part !== ''), JSON.stringify(rest)]
  return cutToBytes(removeSecrets(all.join('\n'), secrets), MAX_BYTES, '\n[cut at 256 KiB]')
}

/** Converts a block to text. `picture`: the block's picture for the model. */
function blockText(block: ContentBlock, picture: MessagePart | undefined): string {
  if (picture) return pictureNote(picture)
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${bytesOf(block.data)} bytes, not shown]`
    case 'resource_link':
      return `[resource: ${block.name}, ${block.uri}]`
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return resource.text
      return `[resource: ${resource.uri}, ${resource.mimeType ?? 'unknown type'}, ${bytesOf(resource.blob)} bytes, not shown]`
    }
  }
}

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64')

/** Returns the structured content that no text repeats; of an object, its fields. */
function notInTexts(structured: unknown, parts: readonly string[]): unknown {
  const fields = isObject(structured) ? Object.entries(structured) : []
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // Longer texts are cut off anyway.
  if (length === 0 || length > MAX_BYTES || parts.length * (fields.length + 1) > MAX_PAIRS) return structured
  const texts = parts.map((part) => ({ text: part.trim(), value: valueIn(part) }))
  if (texts.some((text) => repeats(text, structured))) return undefined
  if (!isObject(structured)) return structured
  const whole = parts.join('\n').trim()
  const rest = fields.filter(([, field]) => {
    if (typeof field === 'string' && field.trim() === whole) return false
    if (texts.some((text) => repeats(text, field))) return false
    const isEach = Array.isArray(field) && field.length === texts.length
    return !(isEach && texts.every((text, index) => repeats(text, field[index])))
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const repeats = ({ text, value }: { text: string; value: unknown }, field: unknown): boolean =>
  typeof field === 'string' ? field.trim() === text : value !== undefined && isDeepStrictEqual(value, field)

/** Parses JSON. Undefined for any other text. */
function valueIn(text: string): unknown {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
