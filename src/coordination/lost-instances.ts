/** Instances that fell silent are declared lost: their epoch rises, and nothing of them can be stored any more. */
import type { Sql } from 'postgres'
import type { SeenLease } from './lease-judge.ts'

export interface LostInstances {
  sql: Sql<Record<string, unknown>>
  /** The instance that judges. */
  id: string
  /** This instance has declared others lost. Absent: nobody counts. */
  onLost?: ((count: number) => void) | undefined
  log: { warn(details: object, message: string): void; info(details: object, message: string): void }
}

/** The leases of all others that are not lost. */
export async function readLeases({ sql, id }: LostInstances): Promise<SeenLease[]> {
  const rows = await sql<{ id: string; lease: string | number }[]>`
    select id, lease from instances where id <> ${id} and lost_at is null`
  return rows.map((row) => ({ id: row.id, lease: Number(row.lease) }))
}

/**
 * Raises the epoch of those whose lease is still the one that was seen; resolves to their ids. Each in a statement of its
 * own: a raise waits for what its instance is just writing, and must not keep the others waiting.
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
    if (one.status === 'rejected') options.log.warn({ err: one.reason }, 'A loss was not declared.')
  return lost
}

/** Raises the epoch of everybody else: on a database that has one instance at a time. Idempotent. */
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

/** Removes the rows of those lost for a day: one that comes back after all begins above every epoch that it held. */
export async function forgetLost({ sql }: Pick<LostInstances, 'sql'>): Promise<void> {
  await sql`delete from instances where lost_at < clock_timestamp() - interval '1 day'`
}
