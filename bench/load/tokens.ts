/** The first byte of the model's tokens, which are found in received bytes whatever the framing. Pure. */

const LETTER = 0x54 // T
const DIGITS = 13
const LENGTH = 1 + DIGITS

const nothing: Buffer = Buffer.alloc(0)

/**
 * Creates a reader of one reply, called with each chunk. It calls `take` once for each token, with the time it was sent
 * (microseconds): tokens that a contender repeats are not newer than the last, and are skipped.
 */
export function tokenReader(take: (sentUs: number) => void): (chunk: Buffer) => void {
  let rest = nothing
  let last = 0
  return (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    rest = nothing
    for (let at = bytes.indexOf(LETTER); at >= 0; at = bytes.indexOf(LETTER, at + 1)) {
      const sent = digitsAt(bytes, at + 1)
      if (Number.isNaN(sent)) continue
      if (at + LENGTH > bytes.length) {
        rest = bytes.subarray(at)
        return
      }
      if (sent <= last) continue
      last = sent
      take(sent)
    }
  }
}

/** Reads digits. NaN: not a token. Too few digits count as a number only at the end of the bytes. */
function digitsAt(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; at < from + DIGITS && at < bytes.length; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}
