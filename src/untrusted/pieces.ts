/** Processes untrusted bytes in portions, yielding to the event loop between them. */
import { setImmediate } from 'node:timers/promises'

/**
 * Processed without a break. Sockets and decompressors deliver 64 KiB and more at once, and some kinds of lines of that
 * size take a parser 0.2 s.
 */
export const PIECE_BYTES = 16 * 1024

/** Number of bytes that are read in a row, in chunks of any size, before a break. */
export const BREAK_BYTES = 64 * 1024

/** Calls `take` in portions and awaits its promise. If this returns a promise, wait for it before the next call. */
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
