/**
 * Clients, faults and checks that nothing was lost: `npm run chaos -- --seconds 60 --seed 7`. Ten minutes by default.
 * Exit code 1 on any violation.
 *
 *     --postgres 15      instead of 18
 *     --burst 1500       replies running on the instance that is killed; 0: none
 *     --log FILE         the instances' logs, in full with `--level debug`
 */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startOwnPostgres } from '../../support/programs/own-postgres.ts'
import { installMissingParts } from '../../support/programs/system-parts.ts'
import { runChaos, type Verdict } from './chaos-run.ts'
import { tellVerdict } from './chaos-verdict.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
    postgres: { type: 'string', default: '18' },
    log: { type: 'string' },
    burst: { type: 'string', default: '1500' },
    level: { type: 'string', default: 'warn' },
  },
})
async function main(): Promise<boolean> {
  installMissingParts()
  const version = values.postgres === '15' ? 15 : 18
  const { log } = values
  const seed = Number(values.seed)
  console.log(`chaos: --seed ${seed} --seconds ${values.seconds} --postgres ${values.postgres}`)
  const common = {
    seed,
    logLevel: values.level,
    ...(log ? { onLog: (line: string) => appendFileSync(log, `${line}\n`) } : {}),
    partitions: 'all',
  } as const
  let isGood = true
  const tell = (verdict: Verdict) => {
    console.log(tellVerdict(seed, verdict))
    isGood &&= verdict.violations.length === 0
  }
  {
    await using server = await startOwnPostgres(version)
    const { database } = server
    tell(await runChaos({ ...common, database, server, seconds: Number(values.seconds), burst: Number(values.burst) }))
  }
  await using server = await startOwnPostgres(version)
  console.log('Partitions without Redis:')
  tell(await runChaos({ ...common, database: server.database, redis: false, seconds: 0, sessions: 0 }))
  return isGood
}

// Not by itself: Node was seen to spin for ever in its own cleanup over a socket that a fault had left half open.
process.exit((await main()) ? 0 : 1)
