/** The media type of a picture, told by its first bytes: what servers call their pictures is often not what they are. */

const beginnings: readonly { mediaType: string; begins: readonly number[]; at8?: string }[] = [
  { mediaType: 'image/png', begins: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mediaType: 'image/jpeg', begins: [0xff, 0xd8, 0xff] },
  { mediaType: 'image/gif', begins: [0x47, 0x49, 0x46, 0x38] },
  { mediaType: 'image/webp', begins: [0x52, 0x49, 0x46, 0x46], at8: 'WEBP' },
]

/** Detects the type of a picture. Null when it is none of the four that models take. */
export function pictureTypeOf(bytes: Buffer): string | null {
  const found = beginnings.find(
    ({ begins, at8 = '' }) =>
      begins.every((byte, at) => bytes[at] === byte) && bytes.toString('latin1', 8, 8 + at8.length) === at8,
  )
  return found?.mediaType ?? null
}

/** A word among the media types that a request holds: it has parts in outputs of calls (contract section 32). */
export const partsOfOutputs = 'pictures and files in outputs of calls'
