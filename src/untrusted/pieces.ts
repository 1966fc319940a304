/** Bytes from others in portions, with a turn of the event loop for everybody else between them. */
import { setImmediate } from 'node:timers/promises'

/**
 * What is worked on without a break. Sockets and decompressors hand over 64 KiB and more at once, and of some kinds of
 * lines that takes a parser 0.2 s.
 */
export const PIECE_BYTES = 16 * 1024

/** So much in a row, in whatever pieces it came, is followed by a break. */
export const BREAK_BYTES = 64 * 1024

/** `take` in portions; its promise is waited for. A promise in return: wait for it before the next call. */
export function inPieces(
  take: (piece: Uint8Array) => Promise<void> | undefined,
): (bytes: Uint8Array) => Promise<void> | undefined {
  let sinceBreak = 0
  async function rest(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await take(bytes.subarray(at, at + PIECE_BYTES))
      await setImmediate()
    }
    sinceBreak = 0
  }
  return (bytes) => {
    if (bytes.length > PIECE_BYTES) return rest(bytes)
    sinceBreak += bytes.length
    const taken = take(bytes)
    if (sinceBreak < BREAK_BYTES) return taken
    sinceBreak = 0
    return Promise.resolve(taken).then(() => setImmediate())
  }
}
