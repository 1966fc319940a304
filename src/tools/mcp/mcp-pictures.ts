/** Pictures in the result of an MCP tool, for models that take pictures (contract section 25). */
import { createHash } from 'node:crypto'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { MessagePart } from '../../actors/ports/index.ts'
import { pictureTypeOf } from '../../untrusted/picture-type.ts'

/** The least that a vendor takes (Anthropic). */
const MAX_PICTURE_BYTES = 5_000_000

/** The pictures of a result, by their blocks. Pictures that are too large or that no model accepts are left out. */
export function picturesIn({ content }: CallToolResult): Map<ContentBlock, MessagePart> {
  return new Map(
    content.flatMap((block) => {
      const picture = pictureOf(base64In(block))
      return picture === null ? [] : [[block, picture] as const]
    }),
  )
}

function base64In(block: ContentBlock): string {
  if (block.type === 'image') return block.data
  return block.type === 'resource' && 'blob' in block.resource ? block.resource.blob : ''
}

function pictureOf(base64: string): MessagePart | null {
  if (base64 === '' || base64.length > MAX_PICTURE_BYTES) return null
  const bytes = Buffer.from(base64, 'base64')
  const mediaType = pictureTypeOf(bytes)
  if (mediaType === null) return null
  return {
    type: 'image_url',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    mediaType,
    filename: null,
    size: bytes.length,
    detail: null,
    sourceUrl: null,
    place: 0,
    async *read() {
      yield bytes
    },
  }
}
