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

/** Above this share of the room a history is summarised, if its agent has that done. */
const SHARE_TO_SUMMARISE = 0.8
/** The share of the history, of its newest turns, that a summary leaves as it is. */
const SHARE_KEPT = 0.3

/**
 * Counts the turns that a summary is asked of, and those of them that it covers. Null while all takes no more than its
 * share of the room, and where the oldest turn alone does not fit. `tokens`: of each turn that is sent, oldest first;
 * `summary`: of the summary before them, which `room` does not hold. An infinite room: whatever they take.
 */
export function toSummarise(
  tokens: readonly number[],
  room: number,
  summary: number,
): { sent: number; covered: number } | null {
  const sum = tokens.reduce((all, one) => all + one, 0)
  if (room < Number.POSITIVE_INFINITY && sum + summary <= (room + summary) * SHARE_TO_SUMMARISE) return null
  let sent = 0
  for (let left = room; sent < tokens.length && (tokens[sent] ?? 0) <= left; sent++) left -= tokens[sent] ?? 0
  const covered = Math.min(sent, newestWithin(tokens, sum * SHARE_KEPT))
  return covered === 0 ? null : { sent, covered }
}

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
