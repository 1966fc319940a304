/** Figures of a run, and of runs before: RESULTS.json is the source, RESULTS.md is made from it. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Case, Figures } from './case.ts'

/** One figure of each repetition. */
export type Row = { title: string; figures: { [key: string]: number[] }; failures: string[] }

export type CaseResult = {
  /** What was done and counted then: a case may have become another one since. */
  note: string
  /** ISO date, without the time. */
  at: string
  repetitions: number
  /** Load averages of the last minute, before and after. */
  load: [number, number]
  rows: { [name: string]: Row }
}

export type Machine = { [name: string]: string }

export type Results = {
  machine: Machine
  /** By contender: packages and their versions. */
  versions: { [name: string]: Readonly<{ [name: string]: string }> }
  cases: { [name: string]: CaseResult }
}

/** Whose row it is. */
export type Named = { readonly name: string; readonly title: string }

export type Record = {
  add(caseName: string, row: Named, figures: Figures): void
  failed(caseName: string, row: Named, reason: string): void
  readonly cases: { [name: string]: CaseResult }
}

export function startRecord(cases: readonly Case[], repetitions: number, load: number): Record {
  const at = new Date().toISOString().slice(0, 10)
  const results: { [name: string]: CaseResult } = {}
  for (const { name, note } of cases) results[name] = { note, at, repetitions, load: [load, load], rows: {} }
  const rowOf = (caseName: string, { name, title }: Named): Row => {
    const result = results[caseName]
    if (!result) throw new Error(`No case ${caseName}.`)
    result.rows[name] ??= { title, figures: {}, failures: [] }
    return result.rows[name]
  }
  return {
    cases: results,
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

const file = new URL('RESULTS.json', import.meta.url)

export async function readResults(): Promise<Results | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Results) // our own file
}

/** A case's run replaces that case's part, the rest stays. */
export async function writeResults(run: Results): Promise<Results> {
  const before = await readResults()
  const results: Results = {
    machine: run.machine,
    versions: { ...before?.versions, ...run.versions },
    cases: { ...before?.cases, ...run.cases },
  }
  await writeFile(
    file,
    `${JSON.stringify(results, null, 1).replace(/\[[^[\]{}]*\]/g, (list) => list.replace(/\s+/g, ' '))}\n`,
  )
  return results
}
