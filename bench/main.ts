/**
 * `npm run bench` runs all cases on all contenders; see bench/README.md.
 *
 *     npm run bench -- stream throughput --only direct,raw,greenroom-session --reps 3
 *     npm run bench -- stream --greenroom before=/path/to/checkout --greenroom after=.
 */
import { installMissingParts } from '../test/support/programs/system-parts.ts'
import { ownCheckout } from './environment/checkout.ts'
import { commitOf, isRecordable } from './environment/commit.ts'
import { openGround } from './environment/ground.ts'
import { machine } from './environment/machine.ts'
import { startRecord, writeResults } from './figures/results.ts'
import { caseTable } from './figures/tables.ts'
import { writeReport } from './report.ts'
import { readArguments, type Wanted } from './runner/arguments.ts'
import { measureOwn } from './runner/own.ts'
import { takeTurns } from './runner/turns.ts'

const commitsOf = ({ checkouts }: Wanted): string[] => [ownCheckout, ...checkouts].map(({ path }) => commitOf(path))

/** Returns the reason why nothing will be recorded, or null. Checked before measuring. */
function unrecordable(wanted: Wanted): string | null {
  if (wanted.recording === 'never') return 'only a part is measured'
  if (commitsOf(wanted).every(isRecordable)) return null
  const reason = 'the tree is dirty: commit first'
  if (wanted.recording === 'always') throw new Error(`Nothing would be recorded, ${reason}.`)
  return reason
}

async function measure(wanted: Wanted, commit: string) {
  const { cases, contenders, checkouts, repetitions } = wanted
  const record = startRecord(cases, { commit, machine: machine(), repetitions })
  await using ground = await openGround()
  const side = cases.filter((one) => one.kind === 'side')
  const own = cases.filter((one) => one.kind === 'own')
  if (side.length > 0) await takeTurns(ground, side, contenders, repetitions, record)
  for (const one of own) await measureOwn(ground, one, checkouts, repetitions, record)
  return record.cases
}

async function main(): Promise<void> {
  const wanted = readArguments(process.argv.slice(2))
  installMissingParts()
  const commits = commitsOf(wanted)
  const reason = unrecordable(wanted)
  if (reason !== null) console.log(`Nothing will be recorded: ${reason}.`)
  const results = await measure(wanted, commits[0] ?? '')
  for (const one of wanted.cases) {
    const result = results[one.name]
    if (result) console.log(`\n## ${one.title}\n\n${caseTable(one, result)}`)
  }
  if (reason !== null) return console.log(`\nNothing was recorded: ${reason}.`)
  if (commitsOf(wanted).join() !== commits.join())
    throw new Error('Nothing was recorded: the source changed during the run.')
  await writeReport(await writeResults(results, wanted.file), wanted.file)
}

await main()
process.exit(0)
