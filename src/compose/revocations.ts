/** Keeps this instance's list of revocations up to date with what others have revoked (contract section 11). */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../coordination/timers.ts'
import { createRevocationList, type RevocationList } from '../http/deploy/access/revocations.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { readRevocations } from '../persistence/replies/users/users.ts'
import { waitForDatabase } from './database.ts'

/** Refused everywhere within 2 s: a reading that is slow or fails leaves time for the next. */
const POLL_MS = 500

/** Resolves when everything is known that was revoked before. */
export async function followRevocations(
  sql: Sql,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<RevocationList & { stop(): void }> {
  const revocations = createRevocationList((horizon) => readRevocations(sql, horizon))
  await waitForDatabase(() => revocations.poll(), log)
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))
  timers.every(POLL_MS, 'Reading revocations', revocations.poll)
  return { ...revocations, stop: timers.stop }
}
