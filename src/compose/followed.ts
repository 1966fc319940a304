/** Keeps what this instance knows up to date with what others have changed (contract sections 11 and 23). */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../async/timers.ts'
import { waitForDatabase } from './database.ts'

/**
 * The interval of readings. Deleted and revoked credentials are refused everywhere within 2 s: a reading that is slow
 * or fails leaves time for the next.
 */
const POLL_MS = 500

/** Follows the list. Resolves when it knows all that is stored. */
export async function followed<List extends { poll(): Promise<void> }>(
  what: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
  list: List,
): Promise<List & { stop(): void }> {
  await waitForDatabase(() => list.poll(), log)
  const timers = createTimers((err, task) => log.warn({ err }, `${task} failed.`))
  timers.every(POLL_MS, `Reading ${what}`, list.poll)
  return { ...list, stop: timers.stop }
}
