/**
 * `npm run bench` runs all cases on all contenders; bench/README.md says what there is.
 *
 *     npm run bench -- stream throughput --only direct,raw,greenroom-session --reps 3
 *     npm run bench -- stream --greenroom before=/path/to/checkout --greenroom after=.
 */
import { loadavg } from 'node:os'
import { installMissingParts } from '../test/support/system-parts.ts'
import { readArguments } from './arguments.ts'
import { openGround } from './ground.ts'
import { machine } from './machine.ts'
import { measureOwn } from './own.ts'
import { writeReport } from './report.ts'
import { startRecord, writeResults } from './results.ts'
import { caseTable } from './tables.ts'
import { takeTurns } from './turns.ts'

const loadNow = (): number => Number((loadavg()[0] ?? 0).toFixed(1))

async function main(): Promise<void> {
  const wanted = readArguments(process.argv.slice(2))
  for (const bench of wanted.others) await bench()
  if (wanted.cases.length === 0) return
  installMissingParts()
  const before = loadNow()
  const record = startRecord(wanted.cases, wanted.repetitions, before)
  {
    await using ground = await openGround()
    const side = wanted.cases.filter((one) => one.kind === 'side')
    const own = wanted.cases.filter((one) => one.kind === 'own')
    if (side.length > 0) await takeTurns(ground, side, wanted.contenders, wanted.repetitions, record)
    for (const one of own) await measureOwn(ground, one, wanted.checkouts, wanted.repetitions, record)
  }
  for (const result of Object.values(record.cases)) result.load = [before, loadNow()]
  for (const one of wanted.cases) {
    const result = record.cases[one.name]
    if (result) console.log(`\n## ${one.title}\n\n${caseTable(one, result)}`)
  }
  if (!wanted.isKept) return console.log('\nOnly a part was measured: RESULTS.md and RESULTS.json stay as they are.')
  const versions = Object.fromEntries(wanted.contenders.map(({ name, versions = {} }) => [name, versions]))
  await writeReport(await writeResults({ machine: machine(), versions, cases: record.cases }))
}

await main()
process.exit(0)
