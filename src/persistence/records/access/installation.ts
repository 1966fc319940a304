/** Distinguishes this installation from others on the same Redis. */
import type { Sql } from '../../postgres/database.ts'

/** Returns a UUID, the same for every instance on this database; created by the first call. */
export async function installationId(sql: Sql): Promise<string> {
  await sql`insert into installation default values on conflict do nothing`
  const [row] = await sql<{ id: string }[]>`select id from installation`
  if (row === undefined) throw new Error('The installation has no id.')
  return row.id
}
