/** The faults of a chaos run: several kinds in parallel, so that faults coincide. */
import { setTimeout as pause } from 'node:timers/promises'
import { askAgain } from '../../../src/persistence/postgres/database.ts'
import type { Wire } from '../../support/network/wire.ts'
import { type Cluster, LEASE_MS } from '../../support/programs/cluster.ts'
import type { OwnPostgres } from '../../support/programs/own-postgres.ts'
import type { RedisServer } from '../../support/programs/redis.ts'

export interface FaultOptions {
  cluster: Cluster
  random(): number
  /** Ends them and repairs what was broken. */
  over: AbortSignal
  /** The database server. Null when it is shared. */
  server: Pick<OwnPostgres, 'restart' | 'freeze' | 'crowdOut'> | null
  /** Called at the start of each fault. */
  onFault(what: string, instance: number | null): void
  /** Receives violations by the product, and its logs before they are lost. */
  onTrouble(detail: string): void
}

type Fault = (instance: number) => Promise<void>

/** Resolves when all faults have ended and everything runs again. */
export async function makeTrouble(options: FaultOptions): Promise<void> {
  const { cluster } = options
  await Promise.all([
    repeat(options, ends(options), cluster.products.length),
    repeat(options, standstills(options), cluster.products.length),
    repeat(options, wireFaults(options), cluster.wires.length),
    repeat(options, databaseFaults(options), null),
    repeat(options, locks(options), null),
    ...(cluster.redis ? [repeat(options, redisFaults(cluster.redis, options.random), null)] : []),
  ])
}

/** All kinds in random order, then again in another order: none is missing in a short run. */
async function repeat(options: FaultOptions, faults: Record<string, Fault>, among: number | null): Promise<void> {
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
  // As a supervisor does: migrations may take long, so a start waits for an answer that another fault swallowed.
  const back = async (instance: number) => {
    for (let tries = 1; ; tries++) {
      try {
        return await cluster.restart(instance)
      } catch (error) {
        if (tries === 10) throw error
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
      const ending = cluster.products[instance]
      await back(instance)
      const exit = await ending?.exited
      const told = ending?.stderr.slice(-3).join(' | ')
      // A `kill -9` may meet it while it drains.
      if (exit?.code !== 0 && exit?.signal !== 'SIGKILL')
        onTrouble(`instance ${instance} ended by SIGTERM with ${JSON.stringify(exit)}: ${told}`)
    },
  }
}

/** The process is suspended and resumed, whatever else happens to it meanwhile. */
function standstills({ cluster, random }: FaultOptions): Record<string, Fault> {
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

/** Faults of one instance's connections to PostgreSQL and Redis. */
function wireFaults({ cluster, random }: FaultOptions): Record<string, Fault> {
  const during = async (wires: readonly (Wire | null | undefined)[], damage: (wire: Wire) => void, ms: number) => {
    for (const wire of wires) if (wire) damage(wire)
    await pause(ms)
    for (const wire of wires) wire?.pass()
  }
  const some = () => random() * 3 * LEASE_MS
  const database = (damage: (wire: Wire) => void): Fault => {
    return (instance) => during([cluster.wires[instance]?.database], damage, some())
  }
  return {
    'own database refuses': database((wire) => wire.refuse()),
    'own database is a black hole': database((wire) => wire.blackhole()),
    'own database is deaf': database((wire) => wire.deafen()),
    'own database stands still': database((wire) => wire.stall()),
    'own database is slow': database((wire) => wire.slow(20 + random() * 100)),
    'own Redis is a black hole': (instance) =>
      during([cluster.wires[instance]?.redis], (wire) => wire.blackhole(), some()),
    'cut off from both': (instance) => {
      const { database, redis } = cluster.wires[instance] ?? {}
      return during([database, redis], (wire) => wire.blackhole(), some())
    },
  }
}

/** Locked rows. */
function locks({ cluster, random }: FaultOptions): Record<string, Fault> {
  const { sql } = cluster.database
  const hold = (rows: string, ms: () => number) => async () => {
    await askAgain(
      () => sql.begin((tx) => tx.unsafe(`select 1 from ${rows} for update; select pg_sleep(${ms() / 1000})`)),
      20_000,
    )
  }
  return {
    'running messages locked': hold(`messages where status = 'streaming'`, () => random() * 3000),
    'instances locked': hold('instances', () => random() * 1.2 * LEASE_MS),
  }
}

function databaseFaults({ cluster, random, server }: FaultOptions): Record<string, Fault> {
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
    ...(server && {
      'database restarted': () => server.restart(),
      'database stands still': () => server.freeze(random() * 2 * LEASE_MS),
      'connections used up': () => server.crowdOut(random() * 3 * LEASE_MS),
    }),
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
