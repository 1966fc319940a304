/** Decodes the bytes of a page. Pure; also imported by the child process that converts pages. */

/** Decodes by byte order mark, then `charset`; otherwise UTF-8 if valid, else Windows-1252. `cut`: more bytes followed. */
export function decodeText(bytes: Uint8Array, charset: string, cut: boolean): string {
  const marked = markedEncoding(bytes)
  try {
    if (marked || charset) return new TextDecoder(marked ?? charset).decode(bytes)
  } catch {
    // unknown encoding: guess
  }
  return new TextDecoder(likelyEncoding(bytes, cut)).decode(bytes)
}

const marks = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
] as const

/** Returns the encoding of a byte order mark. Undefined when there is none. */
export const markedEncoding = (bytes: Uint8Array): string | undefined =>
  marks.find(([first]) => first.every((byte, index) => bytes[index] === byte))?.[1]

/** Returns the encoding of text that does not say its own. `cut`: more bytes followed. */
export const likelyEncoding = (bytes: Uint8Array, cut: boolean) => (isUtf8(bytes, cut) ? 'utf-8' : 'windows-1252')

/**
 * Returns whether bytes are UTF-8. A character cut off at the end is accepted where the bytes were cut: else it is a
 * letter of another encoding.
 */
function isUtf8(bytes: Uint8Array, cut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return true
  } catch {
    return false
  }
}

/**
 * Returns the text if it fits, otherwise its beginning and a note, both within `maxBytes` of UTF-8. `cut`: the text is
 * already cut, so the note is added even if it fits.
 */
export function cutToBytes(text: string, maxBytes: number, note: string, cut = false): string {
  const bytes = Buffer.from(text)
  if (!cut && bytes.length <= maxBytes) return text
  const room = Math.max(0, maxBytes - Buffer.byteLength(note))
  // `stream`: the decoder withholds a character that was cut in two.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, room), { stream: true }) + note
}
