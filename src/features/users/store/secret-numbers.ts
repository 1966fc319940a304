/** The one sequence that orders client secrets and revocations, when a database came back from a backup. */
import type { Sql } from '../../../persistence/postgres/database.ts'

/**
 * Goes on behind every number that may have been given: in a database that was restored the sequence is older than secrets
 * which are still good, and a revocation would get a lower number than theirs. No thousand secrets a second are made for
 * long, so the milliseconds of the clock are above all of them. At each start; under a lock, so that two do it in turn.
 */
export async function passEarlierNumbers(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('client_secret_numbers', 0))`
    await tx`
      select setval('client_secret_numbers', now.ms)
        from client_secret_numbers s, (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms) now
       where s.last_value < now.ms`
  })
}
