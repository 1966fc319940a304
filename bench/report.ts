/** RESULTS.md, from the results of all cases. */
import { writeFile } from 'node:fs/promises'
import { allCases } from './cases/all.ts'
import type { Results } from './results.ts'
import { caseTable } from './tables.ts'

const file = new URL('RESULTS.md', import.meta.url)

export async function writeReport(results: Results): Promise<void> {
  const machine = Object.entries(results.machine).map(([name, value]) => `${name}: ${value}`)
  const sections = allCases.flatMap((one) => {
    const result = results.cases[one.name]
    if (!result) return []
    const { at, repetitions, load } = result
    const how = `${at}, ${repetitions} repetitions, load ${load.join(' to ')}.`
    return [`## ${one.title}`, `${one.note} ${how}`, caseTable(one, result)]
  })
  await writeFile(file, `${['# Results', machine.join('; '), ...sections].join('\n\n')}\n`)
}
