/** Pictures in what tools return, for models that take pictures (contract section 25). */
import { createHash } from 'node:crypto'
import type { MessagePart } from '../actors/ports/index.ts'
import { pictureTypeOf } from '../untrusted/picture-type.ts'

/** As base64 they are the 5,000,000 characters of the vendor that takes least (Anthropic). */
export const MAX_PICTURE_BYTES = 3_750_000

/**
 * The bytes as a picture for models. Returns null when they are too many, or are no picture that models take. What the tool
 * calls them does not count.
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

/** Stands in the tool's text where the picture was. */
export const pictureNote = ({ mediaType, size }: MessagePart): string => `[image: ${mediaType}, ${size} bytes]`
