/** RESULTS.md, from the results of all cases. `node bench/report.ts` makes it anew. */
import { writeFile } from 'node:fs/promises'
import { allCases } from './cases/all.ts'
import { goalsTable } from './goals.ts'
import { type Results, readResults } from './results.ts'
import { caseTable } from './tables.ts'

const file = new URL('RESULTS.md', import.meta.url)

const how = `\`npm run bench\`, everything on one machine and its loopback: the load client, the model, the contender, PostgreSQL and
Redis share its cores. Contenders take turns (A, B, C, A, B, C, …), each started anew and warmed, alone while it is
measured. A cell is the median of the repetitions (lowest–highest). *Added* is what a contender takes more than the client
asking the model itself. CPU is that of the contender's own processes; PostgreSQL and Redis stand apart. CPU a token is the
figure to trust; compare tails only within one run. [README.md](README.md) says more.

Other benches, each with results of its own: [the tool path](results/tools.md), [several instances](results/cluster.md),
[the playground](results/playground.md).`

export async function writeReport(results: Results): Promise<void> {
  const machine = Object.entries(results.machine).map(([name, value]) => `${name}: ${value}`)
  const versions = Object.entries(results.versions).map(
    ([name, parts]) =>
      `- ${name}: ${
        Object.entries(parts)
          .map((part) => part.join(' '))
          .join(', ') || 'the bench itself'
      }`,
  )
  const sections = allCases.flatMap((one) => {
    const result = results.cases[one.name]
    if (!result) return []
    const { note, at, repetitions, load } = result
    const when = `${at}; repetitions: ${repetitions}; load ${load.join(' to ')}.`
    return [`## ${one.title}`, `\`${one.name}\`: ${note} ${when}`, caseTable(one, result)]
  })
  const goals = ['## What is to be reached', 'Medians; the repetitions stand below.', goalsTable(results)]
  const made = '<!-- Made by bench/report.ts from RESULTS.json. -->'
  const parts = ['# Results', made, how, machine.join('; '), versions.join('\n'), ...goals, ...sections]
  await writeFile(file, `${parts.join('\n\n')}\n`)
}

if (import.meta.main) {
  const results = await readResults()
  if (results === null) throw new Error('There is no RESULTS.json: npm run bench.')
  await writeReport(results)
}
