/** The search for lost owners: reads the leases of others, declares silent ones lost, settles their replies. */

import type { LostReply } from '../../actors/ports/index.ts'
import { abandoned } from '../../actors/reply/reply-event.ts'
import type { LocalOptions } from '../local.ts'
import { createLeaseJudge, type SeenLease } from './lease-judge.ts'
import { declareOthers, declareSilent, forgetLost, type LostInstances, readLeases } from './lost-instances.ts'

type SearchOptions = Pick<
  LocalOptions,
  'id' | 'work' | 'replies' | 'leaseMs' | 'onInstancesLost' | 'onRepliesLost' | 'log'
>

/** Creates the search for lost replies. `onLost`: there are lost replies; those that do not end can be taken over. */
export function createLostSearch(options: SearchOptions, onLost: () => void) {
  const { id, work: sql, replies: stored, leaseMs, log } = options
  const others: LostInstances = { sql, id, onLost: options.onInstancesLost, log }
  const judge = createLeaseJudge(leaseMs)
  /** The instances that the last read showed as lost. A declaration is conditional on the lease seen, so it may come late. */
  let silent: SeenLease[] = []

  /** Settles lost replies and returns their number. */
  async function settleLost(): Promise<number> {
    const lost = await stored.settleLost(id, onLost)
    if (lost.length === 0) return 0
    options.onRepliesLost?.(lost.length)
    for (const reply of lost) log.warn(failureOf(reply), 'A reply failed.')
    log.info({ replies: lost.length }, 'Settled replies of lost instances.')
    return lost.length
  }

  return {
    /** Resolves to whether any instance is silent, so that the search should run now. Rejects if the database is down. */
    async readLeases(): Promise<boolean> {
      const sentAt = performance.now()
      try {
        const rows = await readLeases(others)
        silent = judge.read(rows, sentAt, performance.now())
      } catch (error) {
        judge.failed()
        silent = []
        throw error
      }
      return silent.length > 0
    },
    async run(): Promise<void> {
      const judged = silent
      silent = []
      if (judged.length > 0) await declareSilent(others, judged)
      await settleLost()
      await forgetLost(others)
    },
    /** Declares all other instances lost. For an instance that is alone on its database: all others are dead when it starts. */
    async declareAll(): Promise<void> {
      await declareOthers(others)
      // Until none is left: where the database fails between them, only a part is settled at a time.
      while ((await settleLost()) > 0);
    },
  }
}

/** Makes the log line of a failed reply (contract section 17). Its request id and call count were lost with the owner. */
function failureOf({ ms, offered, ...ids }: LostReply) {
  const { code, detail } = abandoned(offered ?? 'instance_lost')
  return { reqId: null, ...ids, code, detail, attempts: null, ms: Math.round(ms) }
}
