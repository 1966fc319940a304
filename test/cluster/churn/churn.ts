/**
 * Replies of a minute with tools, while instances restart and die: `npm run churn -- --seconds 600`. Exit code 1 when a reply
 * ended in error, said anything but what it was to say, or made a call twice.
 *
 *     --replies 200      that run at any moment
 *     --on-loss error    what agents say: then instances only restart, and each drain finds a boundary
 *     --redis            beside PostgreSQL
 *     --lease 6000       OWNER_LEASE_MS, by default the product's own
 *     --before FOLDER    a checkout of the version before: the instances begin with it
 */
import { parseArgs } from 'node:util'
import { startOwnPostgres } from '../../support/programs/own-postgres.ts'
import { installMissingParts } from '../../support/programs/system-parts.ts'
import { runChurn } from './churn-run.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    replies: { type: 'string', default: '200' },
    'on-loss': { type: 'string', default: 'continue' },
    redis: { type: 'boolean', default: false },
    lease: { type: 'string', default: '6000' },
    before: { type: 'string' },
  },
})

/** Maximum violations shown: the others are mostly alike. */
const SHOWN = 10

async function main(): Promise<boolean> {
  installMissingParts()
  await using server = await startOwnPostgres(18)
  const { figures, violations } = await runChurn({
    database: server.database,
    seconds: Number(values.seconds),
    replies: Number(values.replies),
    redis: values.redis,
    leaseMs: Number(values.lease),
    onLoss: values['on-loss'] === 'error' ? 'error' : 'continue',
    before: values.before ?? null,
  })
  for (const [what, figure] of Object.entries(figures)) console.log(`${`${figure}`.padStart(9)}  ${what}`)
  for (const one of violations.slice(0, SHOWN)) console.log(one.slice(0, 1500))
  console.log(violations.length === 0 ? 'No violation.' : `${violations.length} violations.`)
  return violations.length === 0
}

process.exit((await main()) ? 0 : 1)
