/** The outcome of a chaos run as text. */
import type { Verdict } from './chaos-run.ts'

/** Maximum violations shown for each rule: the others are mostly alike. */
const SHOWN = 4

export function tellVerdict(seed: number, { violations, counts }: Verdict): string {
  const figures = Object.entries(counts).map(([what, n]) => `${`${n}`.padStart(9)}  ${what}`)
  if (violations.length === 0) return [...figures, 'No violation.'].join('\n')
  const byRule = Object.entries(Object.groupBy(violations, ({ rule }) => rule))
  return [
    ...figures,
    `${violations.length} violations, seed ${seed}:`,
    ...byRule.flatMap(([rule, those = []]) => [
      `${those.length}  ${rule}`,
      ...those.slice(0, SHOWN).map(({ session, detail }) => `    ${session} ${detail.slice(0, 1500)}`),
    ]),
  ].join('\n')
}
