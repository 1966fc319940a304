/** Keeps this instance's list of keys up to date with what others have changed (contract section 23). */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../coordination/timers.ts'
import { createKeyList, type KeyList } from '../http/keys/key-list.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { findKnownKey, hashOfKey, keysVersion, knownKeys, noteUse } from '../persistence/records/keys/keys.ts'
import { waitForDatabase } from './database.ts'

/** A deleted key is refused everywhere within 2 s: a reading that is slow or fails leaves time for the next. */
const POLL_MS = 500

/** Resolves when all keys are known. */
export async function followKeys(sql: Sql, log: Pick<FastifyBaseLogger, 'warn'>): Promise<KeyList & { stop(): void }> {
  const keys = createKeyList({
    hashOf: hashOfKey,
    version: () => keysVersion(sql),
    all: () => knownKeys(sql),
    find: (by) => findKnownKey(sql, by),
    noteUse: (ids) => noteUse(sql, ids),
  })
  await waitForDatabase(() => keys.poll(), log)
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))
  timers.every(POLL_MS, 'Reading keys', keys.poll)
  return { ...keys, stop: timers.stop }
}
