/** Declares silent instances lost: their epoch is raised, and they can no longer store anything. */
import type { Sql } from 'postgres'
import type { SeenLease } from './lease-judge.ts'

export interface LostInstances {
  sql: Sql<Record<string, unknown>>
  /** This instance, which judges the others. */
  id: string
  /** This instance declared others lost. When absent, it is not counted. */
  onLost?: ((count: number) => void) | undefined
  log: { warn(details: object, message: string): void; info(details: object, message: string): void }
}

/** Reads the leases of all other instances that are not lost. */
export async function readLeases({ sql, id }: LostInstances): Promise<SeenLease[]> {
  const rows = await sql<{ id: string; lease: string | number }[]>`
    select id, lease from instances where id <> ${id} and lost_at is null`
  return rows.map((row) => ({ id: row.id, lease: Number(row.lease) }))
}

/**
 * Raises the epoch of those whose lease is unchanged; resolves to their ids. One statement each: an update waits for
 * whatever its instance is just writing, and must not hold up the others.
 */
export async function declareSilent(options: LostInstances, silent: readonly SeenLease[]): Promise<string[]> {
  const { sql } = options
  const raised = await Promise.allSettled(
    silent.map(
      ({ id, lease }) => sql<{ id: string }[]>`
        update instances set epoch = epoch + 1, lost_at = clock_timestamp()
         where id = ${id} and lease = ${lease} and lost_at is null
        returning id`,
    ),
  )
  const lost = raised.flatMap((one) => (one.status === 'fulfilled' ? one.value.map(({ id }) => id) : []))
  report(options, lost)
  for (const one of raised)
    if (one.status === 'rejected') options.log.warn({ err: one.reason }, 'An instance could not be declared lost.')
  return lost
}

/** Raises the epoch of all others, for a database that serves one instance at a time. Idempotent. */
export async function declareOthers(options: LostInstances): Promise<string[]> {
  const { sql, id } = options
  const rows = await sql<{ id: string }[]>`
    update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id <> ${id} and lost_at is null returning id`
  const lost = rows.map((row) => row.id)
  report(options, lost)
  return lost
}

function report({ onLost, log }: LostInstances, instances: readonly string[]): void {
  if (instances.length === 0) return
  onLost?.(instances.length)
  log.warn({ instances }, 'Declared instances lost.')
}

/** Removes instances lost for a day. One that comes back nevertheless starts above every epoch that it held. */
export async function forgetLost({ sql }: Pick<LostInstances, 'sql'>): Promise<void> {
  await sql`delete from instances where lost_at < clock_timestamp() - interval '1 day'`
}
