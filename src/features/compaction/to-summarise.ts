/** The turns that a summary is asked of, and that it covers (contract section 19). Pure: numbers alone. */

import { newestWithin } from '../../actors/history/budget.ts'

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
