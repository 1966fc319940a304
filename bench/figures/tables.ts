/** Results as Markdown tables: median, minimum and maximum of the repetitions. */
import type { Case, Column } from '../runner/case.ts'
import { median, table } from './figures.ts'
import type { CaseResult } from './results.ts'

/** Returns the figures; empty if not measured or withdrawn. */
function figuresOf(result: CaseResult, name: string, key: string): readonly number[] {
  const row = result.rows[name]
  return row === undefined || row.withdrawn !== undefined ? [] : (row.figures[key] ?? [])
}

/** Returns a row's values in a column, one for each repetition; empty if it or its reference was not measured. */
export function valuesOf(result: CaseResult, row: string, { key, against }: Omit<Column, 'title'>): readonly number[] {
  const values = figuresOf(result, row, key)
  if (!against) return values
  const others = figuresOf(result, against.row, against.key ?? key)
  const compared = values.slice(0, others.length).map((value, n) => {
    const other = others[n] ?? Number.NaN
    return against.how === 'minus' ? value - other : value / other
  })
  return compared.filter(Number.isFinite)
}

function cell(values: readonly number[], digits: number): string {
  if (values.length === 0) return ''
  const show = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const [low, high] = [show(Math.min(...values)), show(Math.max(...values))]
  return low === high ? low : `${show(median(values))} (${low}–${high})`
}

/** Omits columns in which every row is empty or zero. */
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
  const withdrawn = rows.flatMap(([, { title, withdrawn }]) => (withdrawn ? [`- ${title}: ${withdrawn}`] : []))
  return [table(head, lines), listOf('Not measured:', failures), listOf('Withdrawn:', withdrawn)].flat().join('\n')
}

const listOf = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, '', ...lines]

const oneLine = (text: string): string => text.replace(/[\s|<>]+/g, ' ')
