/** Results as tables in Markdown: the median of the repetitions, and their lowest and highest. */
import type { Case, Column } from './case.ts'
import { median, table } from './cluster/figures.ts'
import type { CaseResult } from './results.ts'

/** A column's values of one row, a repetition each; empty where it or what it is held against was not measured. */
export function valuesOf(result: CaseResult, row: string, { key, against }: Column): number[] {
  const values = result.rows[row]?.figures[key] ?? []
  if (!against) return values
  const others = result.rows[against.row]?.figures[key] ?? []
  const held = values.slice(0, others.length).map((value, n) => {
    const other = others[n] ?? Number.NaN
    return against.how === 'minus' ? value - other : value / other
  })
  return held.filter(Number.isFinite)
}

function cell(values: readonly number[], digits: number): string {
  if (values.length === 0) return ''
  const show = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const [low, high] = [show(Math.min(...values)), show(Math.max(...values))]
  return low === high ? low : `${show(median(values))} (${low}–${high})`
}

/** Columns in which every row is empty or zero are left out. */
export function caseTable({ columns, ...one }: Case, result: CaseResult): string {
  const rows = Object.entries(result.rows)
  const shown = columns.filter((column) =>
    rows.some(([name]) => valuesOf(result, name, column).some((value) => value !== 0)),
  )
  const lines = rows.map(([name, { title }]) => [
    title,
    ...shown.map((column) => cell(valuesOf(result, name, column), column.digits ?? 1)),
  ])
  const head = [one.kind === 'own' ? one.rows : '', ...shown.map(({ title }) => title)]
  const failures = rows.flatMap(([, { title, failures }]) => failures.map((reason) => `- ${title}: ${oneLine(reason)}`))
  return [table(head, lines), ...(failures.length > 0 ? ['', 'Not measured:', '', ...failures] : [])].join('\n')
}

const oneLine = (text: string): string => text.replace(/[\s|<>]+/g, ' ')
