/** RESULTS.md, from the results of all cases. `node bench/report.ts` makes it anew; `--check` fails where it differs. */
import { readFile, writeFile } from 'node:fs/promises'
import { allCases } from './cases/all.ts'
import { goalsTable } from './goals.ts'
import { type CaseResult, type Results, type Row, readResults, resultsFile } from './results.ts'
import { caseTable } from './tables.ts'

const how = `\`npm run bench\`: everything runs on one machine and its loopback, so the load client, the model, the contender,
PostgreSQL and Redis share its cores. Contenders take turns (A, B, C, A, B, C, …), each started anew and warmed, alone while
it is measured. A cell is the median of the repetitions (lowest–highest). *Added* is what a contender takes more than the
client asking the model directly. CPU is that of the contender's own processes; PostgreSQL and Redis are listed separately.
CPU a token is the most reliable figure; compare tails only within one run. [README.md](README.md) says more.

Other benches, each with results of its own: [the tool path](results/tools.md), [several instances](results/cluster.md),
[the playground](results/playground.md).`

const machineWords = (result: CaseResult): string =>
  Object.entries(result.machine)
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ')

/** Of a contender: what it is made of, and how it is started. */
const setupOf = ({ versions, flags }: Row): string => {
  const parts = Object.entries(versions ?? {}).map((part) => part.join(' '))
  return `${parts.join(', ') || 'the bench itself'}${flags ? `; \`${flags}\`` : ''}`
}

/** A line for each contender and setup; where it had several, with the cases of each. */
function contenderLines(sections: readonly (readonly [string, CaseResult])[]): string[] {
  const setups = new Map<string, Map<string, string[]>>()
  for (const [caseName, { rows }] of sections) {
    for (const [name, row] of Object.entries(rows)) {
      const ofName = setups.get(name) ?? new Map<string, string[]>()
      setups.set(name, ofName)
      ofName.set(setupOf(row), [...(ofName.get(setupOf(row)) ?? []), caseName])
    }
  }
  return [...setups].flatMap(([name, ofName]) =>
    [...ofName].map(([setup, cases]) => `- ${name}: ${setup}${ofName.size > 1 ? ` (${cases.join(', ')})` : ''}`),
  )
}

function whenOf(result: CaseResult): string {
  const { at, commit, repetitions, load } = result
  const range = load === null ? 'not recorded' : `${load.lowest} to ${load.highest}`
  const run = load?.of === 'run' ? ' (before and after the run that it was part of)' : ''
  return `Measured ${at} at commit ${commit}; repetitions: ${repetitions}; load: ${range}${run}.`
}

function report(results: Results): string {
  const sections = allCases.flatMap((one) => {
    const result = results.cases[one.name]
    return result ? [{ one, result }] : []
  })
  const machines = new Set(sections.map(({ result }) => machineWords(result)))
  const side = sections.filter(({ one }) => one.kind === 'side').map(({ one, result }) => [one.name, result] as const)
  return `${[
    '# Results',
    '<!-- Made by bench/report.ts from RESULTS.json. Do not edit. -->',
    how,
    [...machines].join('\n\n'),
    contenderLines(side).join('\n'),
    '## Goals',
    'Medians; the repetitions stand below.',
    goalsTable(results),
    ...sections.flatMap(({ one, result }) => [
      `## ${one.title}`,
      `\`${one.name}\`: ${result.note} ${whenOf(result)}${machines.size > 1 ? ` On: ${machineWords(result)}.` : ''}`,
      caseTable(one, result),
    ]),
  ].join('\n\n')}\n`
}

/** `file`: of the results; the report lies beside it. */
export async function writeReport(results: Results, file: URL = resultsFile): Promise<void> {
  await writeFile(new URL('RESULTS.md', file), report(results))
}

if (import.meta.main) {
  const results = await readResults()
  if (results === null) throw new Error('There is no RESULTS.json: npm run bench.')
  const text = await readFile(new URL('RESULTS.md', resultsFile), 'utf8').catch(() => '')
  if (!process.argv.includes('--check')) await writeReport(results)
  else if (text !== report(results)) {
    console.error('bench/RESULTS.md differs from bench/RESULTS.json: run "npm run generate".')
    process.exit(1)
  }
}
