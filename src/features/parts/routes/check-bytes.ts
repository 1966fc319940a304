/** Whether bytes are what they are called (contract section 13). */
import { setImmediate } from 'node:timers/promises'
import { isDocument } from '../documents/document-types.ts'
import type { Decoded } from './base64.ts'
import { isPictureType } from './sent-message.ts'

/** All that file-type looks at for the types that are taken here. */
export const BEGINNING_BYTES = 4100

/** The number of bytes that are checked before other work has its turn. */
const TURN_BYTES = 2 ** 20

/** The library's names of pictures that are shown as others. */
const shownAs = new Map([['image/apng', 'image/png']])

/** Returns the media type that the bytes begin as. Null when none is known. */
async function typeOf(pieces: readonly Uint8Array[]): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  const beginnings = pieces.slice(0, 8).map((piece) => piece.subarray(0, BEGINNING_BYTES))
  const beginning = Buffer.concat(beginnings).subarray(0, BEGINNING_BYTES)
  const found = (await fileTypeFromBuffer(beginning))?.mime
  return found === undefined ? null : (shownAs.get(found) ?? found)
}

/** Returns the media type of a picture that is taken. Null when it is none. */
export async function pictureTypeOf(pieces: readonly Uint8Array[]): Promise<string | null> {
  const mediaType = await typeOf(pieces)
  return mediaType !== null && isPictureType(mediaType) ? mediaType : null
}

/** Returns the media type that these first bytes of a file tell: a picture's that is taken, or PDF. Null for others. */
export async function pictureOrPdfType(beginning: Uint8Array): Promise<string | null> {
  const mediaType = await typeOf([beginning])
  return mediaType !== null && (isPictureType(mediaType) || mediaType === 'application/pdf') ? mediaType : null
}

/** Returns what is wrong with the bytes. Null when there is nothing. */
export async function faultOf({ pieces }: Pick<Decoded, 'pieces'>, mediaType: string): Promise<string | null> {
  if (isDocument(mediaType)) return null // what converts it tells
  if (mediaType.startsWith('text/')) return (await isText(pieces)) ? null : 'is not text in UTF-8'
  return (await typeOf(pieces)) === mediaType ? null : `does not begin as ${mediaType} does`
}

async function isText(pieces: readonly Uint8Array[]): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let sinceBreak = 0
  try {
    for (const piece of pieces) {
      if (piece.includes(0)) return false
      decoder.decode(piece, { stream: true })
      sinceBreak += piece.length
      if (sinceBreak < TURN_BYTES) continue
      sinceBreak = 0
      await setImmediate()
    }
    decoder.decode()
    return true
  } catch {
    return false
  }
}
