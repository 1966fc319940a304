/** Pictures in the result of an MCP tool. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { MessagePart } from '../../actors/ports/index.ts'
import { MAX_PICTURE_BYTES, toolPicture } from '../tool-picture.ts'

/**
 * Returns the pictures of a result, by their blocks. Pictures that are too large or that no model accepts are left out.
 */
export function picturesIn({ content }: CallToolResult): Map<ContentBlock, MessagePart> {
  return new Map(
    content.flatMap((block) => {
      const base64 = base64In(block)
      const isSmall = base64.length <= (MAX_PICTURE_BYTES / 3) * 4
      const picture = base64 !== '' && isSmall ? toolPicture(Buffer.from(base64, 'base64')) : null
      return picture === null ? [] : [[block, picture] as const]
    }),
  )
}

function base64In(block: ContentBlock): string {
  if (block.type === 'image') return block.data
  return block.type === 'resource' && 'blob' in block.resource ? block.resource.blob : ''
}
