/** Keeps what this instance knows of keys and revocations up to date with what others have changed (contract sections 11 and 23). */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../coordination/timers.ts'
import { createKeyList, type KeyList } from '../features/keys/routes/key-list.ts'
import { findKnownKey, hashOfKey, keysVersion, knownKeys, noteUse } from '../features/keys/store/keys.ts'
import { createRevocationList, type RevocationList } from '../features/users/access/revocations.ts'
import { readRevocations } from '../features/users/store/users.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { waitForDatabase } from './database.ts'

/**
 * The interval of readings. Deletions and revocations count everywhere within 2 s: a reading that is slow or fails
 * leaves time for the next.
 */
const POLL_MS = 500

type Log = Pick<FastifyBaseLogger, 'warn'>

/** Resolves when all keys are known. */
export const followKeys = (sql: Sql, log: Log): Promise<KeyList & { stop(): void }> =>
  followed(
    'keys',
    log,
    createKeyList({
      hashOf: hashOfKey,
      version: () => keysVersion(sql),
      all: () => knownKeys(sql),
      find: (by) => findKnownKey(sql, by),
      noteUse: (ids) => noteUse(sql, ids),
    }),
  )

/** Resolves when everything is known that was revoked before. */
export const followRevocations = (sql: Sql, log: Log): Promise<RevocationList & { stop(): void }> =>
  followed(
    'revocations',
    log,
    createRevocationList((horizon) => readRevocations(sql, horizon)),
  )

async function followed<List extends { poll(): Promise<void> }>(what: string, log: Log, list: List) {
  await waitForDatabase(() => list.poll(), log)
  const timers = createTimers((err, task) => log.warn({ err }, `${task} failed.`))
  timers.every(POLL_MS, `Reading ${what}`, list.poll)
  return { ...list, stop: timers.stop }
}
