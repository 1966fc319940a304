/**
 * Clients, faults and checks that nothing was lost: `npm run chaos -- --seconds 60 --seed 7`. Ten minutes by default.
 * Exit code 1 on any violation.
 *
 *     --postgres 15      instead of 18
 *     --log FILE         the instances' logs, in full with `--level debug`
 */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { runChaos } from './chaos-run.ts'
import { tellVerdict } from './chaos-verdict.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
    postgres: { type: 'string', default: '18' },
    log: { type: 'string' },
    level: { type: 'string', default: 'warn' },
  },
})
async function main(): Promise<boolean> {
  await using postgres = await startOwnPostgres(values.postgres === '15' ? 15 : 18)
  const { log } = values
  const seed = Number(values.seed)
  console.log(`chaos: --seed ${seed} --seconds ${values.seconds} --postgres ${values.postgres}`)
  const verdict = await runChaos({
    database: postgres.database,
    ...{ seconds: Number(values.seconds), seed, logLevel: values.level },
    ...(log ? { onLog: (line) => appendFileSync(log, `${line}\n`) } : {}),
    restartDatabase: postgres.restart,
  })
  console.log(tellVerdict(seed, verdict))
  return verdict.violations.length === 0
}

process.exitCode = (await main()) ? 0 : 1
