/** Instances that fell silent are declared lost: their epoch rises, and nothing of them can be stored any more. */
import type { Sql } from 'postgres'

export interface LostInstances {
  sql: Sql<Record<string, unknown>>
  /** The instance that judges. */
  id: string
  /** This instance has declared others lost. Absent: nobody counts. */
  onLost?: ((count: number) => void) | undefined
  log: { warn(details: object, message: string): void; info(details: object, message: string): void }
}

/** Raises the epoch of instances whose lease has passed, or of `everyone` but this one. Idempotent. */
export async function declareLost({ sql, id, onLost, log }: LostInstances, everyone: boolean): Promise<void> {
  const lost = await sql<{ id: string }[]>`
    update instances set epoch = epoch + 1, lost_at = clock_timestamp()
     where id <> ${id} and lost_at is null and (${everyone} or lease_until < clock_timestamp())
    returning id`
  if (lost.length > 0) {
    onLost?.(lost.length)
    log.warn({ instances: lost.map((instance) => instance.id) }, 'Declared instances lost.')
  }
  // One that comes back after all begins above every epoch that it held (lease.ts).
  await sql`delete from instances where lost_at < clock_timestamp() - interval '1 day'`
}
