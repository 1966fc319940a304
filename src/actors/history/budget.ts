/** The turns of a conversation that are sent (contract section 19). Pure: numbers alone. */

/** The share of the room that a history is cut to: the rest then lasts for many turns. */
const SHARE_AFTER_CUT = 0.6

export interface Room {
  /** Tokens that the turns may take together. */
  room: number
  /** The turn that the newest reply's request began with. Null when it is not known. */
  start: number | null
}

/**
 * Returns the turn to begin with: `start` as long as all from there fits, so that requests begin alike and the
 * provider's cache knows them; else the newest whole turns that fit into 60 % of the room. `tokens`: of each turn,
 * oldest first. Equal to their number: none is sent.
 */
export function firstTurn(tokens: readonly number[], { room, start }: Room): number {
  if (start === null) return repeated(tokens, room)
  return sumOf(tokens, start, tokens.length) <= room ? start : cutTo(tokens, room)
}

/**
 * Returns the turn to begin with, as if every turn had been answered in its time: a history that is given anew each
 * time begins where it began before.
 */
function repeated(tokens: readonly number[], room: number): number {
  let start = 0
  let sum = 0
  for (const [at, tokensOfTurn] of tokens.entries()) {
    sum += tokensOfTurn
    if (sum <= room) continue
    start = cutTo(tokens, room, at + 1)
    sum = sumOf(tokens, start, at + 1)
  }
  return start
}

function sumOf(tokens: readonly number[], from: number, end: number): number {
  let sum = 0
  for (let at = from; at < end; at++) sum += tokens[at] ?? 0
  return sum
}

/** Returns the turn that a history begins with once it is cut. It ends before the turn `end`. */
export const cutTo = (tokens: readonly number[], room: number, end = tokens.length): number =>
  newestWithin(tokens, room * SHARE_AFTER_CUT, room, end)

/** Returns the newest whole turns before `end` within `share`; the newest one alone may take `most`. */
export function newestWithin(tokens: readonly number[], share: number, most = share, end = tokens.length): number {
  let left = share
  let at = end
  const newest = tokens[end - 1] ?? 0
  if (newest > share && newest <= most) return end - 1
  while (at > 0 && (tokens[at - 1] ?? 0) <= left) {
    at -= 1
    left -= tokens[at] ?? 0
  }
  return at
}
