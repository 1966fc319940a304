/** A short `npm run chaos`, on the oldest supported PostgreSQL. Its servers are shared with other tests and get no faults. */
import { expect } from 'vitest'
import { freshDatabase } from '../../support/database.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { runChaos } from './chaos-run.ts'
import { tellVerdict } from './chaos-verdict.ts'

verifies(
  ['contract-4.stored-before-shown', 'contract-4.fencing', 'contract-7.any-instance', 'contract-7.redis-lost'],
  'clients and faults at random: all that anybody saw is stored, once, and every session goes on',
  async () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
    const seconds = Number(process.env.CHAOS_SECONDS ?? samples(10, 20))
    console.log(`chaos: SEED=${seed}`)
    const database = await freshDatabase({ version: 15 })
    try {
      const verdict = await runChaos({ database, seconds, seed, sessions: 30 })
      console.log(tellVerdict(seed, verdict))
      expect(verdict.violations.slice(0, 5)).toEqual([])
      expect(verdict.counts['frames compared']).toBeGreaterThan(100) // 946 on a busy machine, else several thousand
    } finally {
      await database.drop()
    }
  },
  { timeout: 400_000 },
)
