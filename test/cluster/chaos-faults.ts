/** The faults of a chaos run: several loops in parallel, so that faults coincide. */
import { setTimeout as pause } from 'node:timers/promises'
import { askAgain } from '../../src/persistence/postgres/database.ts'
import { type Cluster, LEASE_MS } from '../support/cluster.ts'
import type { RedisServer } from '../support/redis.ts'

export interface FaultOptions {
  cluster: Cluster
  random(): number
  /** Ends the loops and repairs what was broken. */
  over: AbortSignal
  /** Restarts the database server. Null: it is shared. */
  restartDatabase: (() => Promise<void>) | null
  /** Called at the start of each fault. */
  onFault(what: string, instance: number | null): void
  /** Receives violations by the product, and its logs before they are lost. */
  onTrouble(detail: string): void
}

type Fault = (instance: number) => Promise<void>

/** Resolves when all loops have ended and everything runs again. */
export async function makeTrouble(options: FaultOptions): Promise<void> {
  const { cluster } = options
  const loops = [
    runLoop(options, ends(options), cluster.products.length),
    runLoop(options, suspensions(options), cluster.products.length),
    runLoop(options, databaseFaults(options), null),
    ...(cluster.redis ? [runLoop(options, redisFaults(cluster.redis, options.random), null)] : []),
  ]
  await Promise.all(loops)
}

/** All kinds in random order, then again in another order: none is missing in a short run. */
async function runLoop(options: FaultOptions, faults: Record<string, Fault>, among: number | null): Promise<void> {
  const { random, over, onFault, onTrouble } = options
  let deck: [string, Fault][] = []
  for (;;) {
    await pause(500 + random() * 2500, undefined, { signal: over }).catch(() => {})
    if (over.aborted) return
    if (deck.length === 0) deck = Object.entries(faults)
    const [drawn] = deck.splice(Math.floor(random() * deck.length), 1)
    if (drawn === undefined) return
    const [what, fault] = drawn
    const instance = Math.floor(random() * (among ?? 1))
    onFault(what, among === null ? null : instance)
    await fault(instance).catch((error: unknown) => onTrouble(`${what}: ${String(error)}`))
  }
}

/** The process ends and restarts. */
function ends({ cluster, random, onTrouble }: FaultOptions): Record<string, Fault> {
  const back = async (instance: number) => {
    for (let tries = 1; ; tries++) {
      try {
        return await cluster.restart(instance)
      } catch (error) {
        onTrouble(`instance ${instance}: ${String(error)}`)
        if (tries === 3) throw error
      }
    }
  }
  return {
    async 'kill -9'(instance) {
      await cluster.kill9(instance)
      await pause(random() * 2 * LEASE_MS)
      await back(instance)
    },
    async SIGTERM(instance) {
      const exit = await back(instance)
      if (exit?.code !== 0) onTrouble(`instance ${instance} ended by SIGTERM with ${JSON.stringify(exit)}`)
    },
  }
}

/** The process is suspended and resumed, whatever else happens to it meanwhile. */
function suspensions({ cluster, random }: FaultOptions): Record<string, Fault> {
  const stand = async (instance: number, ms: number) => {
    const { child } = cluster.products[instance] ?? {}
    child?.kill('SIGSTOP')
    await pause(ms)
    child?.kill('SIGCONT')
  }
  return {
    'SIGSTOP past the lease': (instance) => stand(instance, LEASE_MS * (1.1 + 2 * random())),
    'SIGSTOP within the lease': (instance) => stand(instance, LEASE_MS * 0.8 * random()),
  }
}

function databaseFaults({ cluster, random, restartDatabase }: FaultOptions): Record<string, Fault> {
  const { sql } = cluster.database
  // Our own connection may be cut too, or the server may still be starting.
  const cut = (part: string) => async () => {
    const instances = await askAgain(
      () => sql<{ id: string }[]>`select id from instances where lost_at is null`,
      20_000,
    )
    const { id = '' } = instances[Math.floor(random() * instances.length)] ?? {}
    const name = `greenroom ${part} ${id.slice(0, 8)}`
    await askAgain(
      () => sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like ${name}`,
      20_000,
    )
  }
  return {
    'all connections of an instance cut': cut('%'),
    'connection of flushes cut': cut('journal'),
    'connections of requests cut': cut('pool'),
    'connection of the lease cut': cut('lease'),
    ...(restartDatabase ? { 'database restarted': restartDatabase } : {}),
  }
}

function redisFaults(redis: RedisServer, random: () => number): Record<string, Fault> {
  return {
    'Redis killed': async () => {
      await redis.kill9()
      await pause(random() * 4000)
      await redis.restart()
    },
    'Redis restarted': () => redis.restart(),
    'Redis emptied': () => redis.flush(),
    'Redis stands still': async () => {
      redis.pause()
      await pause(random() * 4000)
      redis.resume()
    },
  }
}
