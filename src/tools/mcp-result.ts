/** What a tool of an MCP server answered, as the text that a model reads. */
import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { cutToBytes } from './response-text.ts'

/** Contract section 6, as for HTTP tools. */
const MAX_BYTES = 256 * 1024

/** Texts in their order, notes in place of what is not text, then structured content that no text repeats. */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(blockText)
  if (structuredContent !== undefined && !parts.some((part) => isJsonOf(part, structuredContent))) {
    parts.push(JSON.stringify(structuredContent))
  }
  return cutToBytes(parts.join('\n'), MAX_BYTES, '\n[cut at 256 KiB]')
}

function blockText(block: ContentBlock): string {
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

function isJsonOf(text: string, value: unknown): boolean {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}
