/** Pictures in the results of tools, for models that accept pictures (contract section 25). */
import { createHash } from 'node:crypto'
import type { MessagePart } from '../actors/ports/index.ts'
import { pictureTypeOf } from '../untrusted/picture-type.ts'

/** The largest picture. In base64 it has the 5,000,000 characters that the strictest vendor (Anthropic) accepts. */
export const MAX_PICTURE_BYTES = 3_750_000

/**
 * Returns the bytes as a picture for models. Null when there are too many, or when they are no picture that models
 * accept. The media type that the tool gives does not count.
 */
export function toolPicture(bytes: Buffer): MessagePart | null {
  const mediaType = bytes.length > MAX_PICTURE_BYTES ? null : pictureTypeOf(bytes)
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

/** Describes a picture, in its place in the tool's text. */
export const pictureNote = ({ mediaType, size }: MessagePart): string => `[image: ${mediaType}, ${size} bytes]`
