/** A trace's model turns, which fold, and its axis. Pure. */
import type { Span } from './types.ts'

/** Returns the number of the turn that a span, an attempt or a tool call belongs to. Null when it belongs to none. */
export function turnOf({ kind, parentId, detail }: Span): number | null {
  if (kind === 'attempt') return Number(parentId?.slice(1))
  return (kind === 'model' || kind === 'tool') && typeof detail.turn === 'number' ? detail.turn : null
}

export const turnsIn = (spans: readonly Span[]): number[] =>
  spans.flatMap((span) => (span.kind === 'model' ? (turnOf(span) ?? []) : []))

export const within = (spans: readonly Span[], turn: number | null): Span[] =>
  spans.filter((span) => span.kind !== 'model' && turn !== null && turnOf(span) === turn)

/** A trace with more spans begins with its turns folded. */
const MOST_UNFOLDED = 14

/**
 * Returns the turns of a long trace that are folded at first: those that have ended without a failure, except the
 * newest.
 */
export function foldedAtFirst(spans: readonly Span[]): number[] {
  if (spans.length <= MOST_UNFOLDED) return []
  const fine = (turn: number) => spans.every((span) => turnOf(span) !== turn || span.ok === true)
  return turnsIn(spans).slice(0, -1).filter(fine)
}

/** Returns the summary of a folded turn: `2 attempts, 3 × weather, look_up`. */
export function foldedWords(hidden: readonly Span[]): string {
  const attempts = hidden.filter(({ kind }) => kind === 'attempt').length
  const calls = new Map<string, number>()
  for (const { kind, name } of hidden) if (kind === 'tool') calls.set(name, (calls.get(name) ?? 0) + 1)
  const tools = [...calls].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  return [...(attempts > 1 ? [`${attempts} attempts`] : []), ...tools].join(', ')
}

/** Returns round moments from 0 on, at most five, for an axis of so many milliseconds. */
export function ticksOf(whole: number): number[] {
  const least = Math.max(1, whole / 4)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least) ?? 10 * power
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, index) => index * step)
}
