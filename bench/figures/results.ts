/** The figures of all runs: RESULTS.md and the tables in the documents are generated from RESULTS.jsonl. */
import { readFile, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import type { Case, Figures } from '../runner/case.ts'

/** A contender's figures, one of each kind for each repetition. */
export type Row = {
  title: string
  /** Packages and their versions. */
  versions?: Readonly<{ [name: string]: string }>
  /** Variables and arguments of its start. */
  flags?: string
  /** The reason why its figures are kept but no longer displayed. */
  withdrawn?: string
  figures: { [key: string]: number[] }
  failures: string[]
}

export type Machine = { [name: string]: string }

export type Load = {
  /** One-minute load averages, the bench's own work included. */
  lowest: number
  highest: number
  /** `case`: read before and after each of its measurements. `run`: read before and after the whole run it was part of. */
  of: 'case' | 'run'
}

export type CaseResult = {
  /** The work and the counts at that time: the case may have changed since. */
  note: string
  /** ISO date, without the time. */
  at: string
  /** Commit of the bench's own checkout. */
  commit: string
  machine: Machine
  repetitions: number
  /** Null when nothing was measured yet. */
  load: Load | null
  rows: { [name: string]: Row }
}

export type Results = { cases: { [name: string]: CaseResult } }

/** The identity of a row. */
export type Named = Pick<Row, 'title' | 'versions' | 'flags'> & { readonly name: string }

export type Record = {
  /** Records the machine's load, before and after each measurement. */
  noteLoad(caseName: string): void
  add(caseName: string, row: Named, figures: Figures): void
  failed(caseName: string, row: Named, reason: string): void
  readonly cases: { [name: string]: CaseResult }
}

export type Source = Pick<CaseResult, 'commit' | 'machine' | 'repetitions'>

export function startRecord(cases: readonly Case[], source: Source): Record {
  const at = new Date().toISOString().slice(0, 10)
  const results: { [name: string]: CaseResult } = {}
  for (const { name, note } of cases) results[name] = { note, at, ...source, load: null, rows: {} }
  const resultOf = (caseName: string): CaseResult => {
    const result = results[caseName]
    if (!result) throw new Error(`No case ${caseName}.`)
    return result
  }
  const rowOf = (caseName: string, { name, title, versions, flags }: Named): Row => {
    const { rows } = resultOf(caseName)
    rows[name] ??= { title, ...(versions && { versions }), ...(flags && { flags }), figures: {}, failures: [] }
    return rows[name]
  }
  return {
    cases: results,
    noteLoad(caseName) {
      const result = resultOf(caseName)
      const now = Number((loadavg()[0] ?? 0).toFixed(1))
      const { lowest, highest } = result.load ?? { lowest: now, highest: now }
      result.load = { lowest: Math.min(lowest, now), highest: Math.max(highest, now), of: 'case' }
    },
    add(caseName, named, figures) {
      const { figures: all } = rowOf(caseName, named)
      for (const [key, value] of Object.entries(figures)) {
        all[key] ??= []
        all[key].push(Number(value.toPrecision(6)))
      }
    },
    failed(caseName, named, reason) {
      rowOf(caseName, named).failures.push(reason.slice(0, 300))
    },
  }
}

export const resultsFile = new URL('../RESULTS.jsonl', import.meta.url)

/** A line of the file: a case, then a line for each of its rows. */
type Line = ({ case: string } & Omit<CaseResult, 'rows'>) | ({ row: string } & Row)

/** Returns null when no results exist. */
export async function readResults(file: URL = resultsFile): Promise<Results | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const results: Results = { cases: {} }
  let rows: CaseResult['rows'] = {}
  for (const one of text.trimEnd().split('\n')) {
    const line = JSON.parse(one) as Line // our own file
    if ('case' in line) {
      const { case: name, ...fields } = line
      rows = {}
      results.cases[name] = { ...fields, rows }
    } else {
      const { row: name, ...row } = line
      rows[name] = row
    }
  }
  return results
}

/** Replaces the given cases and keeps the others. */
export async function writeResults(cases: Results['cases'], file: URL): Promise<Results> {
  const before = await readResults(file)
  const results: Results = { cases: { ...before?.cases, ...cases } }
  await writeFile(file, formatResults(results))
  return results
}

const formatResults = ({ cases }: Results): string =>
  Object.entries(cases)
    .flatMap(([name, { rows, ...fields }]): Line[] => [
      { case: name, ...fields },
      ...Object.entries(rows).map(([row, figures]) => ({ row, ...figures })),
    ])
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
