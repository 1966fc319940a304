/** Samples of repeated rounds, and their display in tables. */

/** One list for each round; they need not be sorted. */
export type Rounds = number[][]

/** The value below which `share` (0 to 1) of the samples fall. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const digits = (value: number): string => (Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0))

/** Median, minimum and maximum of the rounds. */
export function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `${digits(median(values))} (${digits(low)}–${digits(high)})`
}

/** Cells for p50, p99 and the number of samples. */
export const quantileCells = (rounds: Rounds): string[] => [
  spread(rounds.map((round) => quantile(round, 0.5))),
  spread(rounds.map((round) => quantile(round, 0.99))),
  `${rounds.flat().length}`,
]

/** Cells for minimum, median and maximum. */
export const extremeCells = (values: readonly number[]): string[] =>
  [Math.min(...values), median(values), Math.max(...values)].map(digits)

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Evenly spread shares of 1, however many there are (golden ratio), so that they coincide with no timer. */
export const evenly = (n: number): number => (n * 0.618_033_988_749_895) % 1
