/**
 * A database in trouble fails every background task again and again: with its disk full, the log got 1.4 KB twice a second.
 * The same failure is logged once in a while, with how often it came, and named for what it is.
 */
import { LRUCache } from 'lru-cache'
import { codeOf, isDatabaseGone } from '../../../persistence/postgres/database.ts'
import { databaseWords } from './database-words.ts'

const SELDOM_MS = 60_000

/** More messages than the code has. */
const MOST_KNOWN = 1000

/** Returns a filter of log lines, which gives a log method's arguments, changed, or null when the line is left out. */
export function createSeldomLog(seldomMs = SELDOM_MS, now: () => number = () => performance.now()) {
  const known = new LRUCache<string, { loggedAt: number; left: number }>({ max: MOST_KNOWN })
  return (details: unknown, message: unknown): [object, string] | null | 'as it is' => {
    if (!(details instanceof Object) || typeof message !== 'string') return 'as it is'
    const err: unknown = Reflect.get(details, 'err')
    if (!isDatabaseGone(err)) return 'as it is'
    const key = `${codeOf(err)} ${message}`
    const before = known.get(key)
    if (before !== undefined && now() - before.loggedAt < seldomMs) {
      before.left += 1
      return null
    }
    known.set(key, { loggedAt: now(), left: 0 })
    const leftOut = before?.left ? { leftOut: before.left } : {}
    return [{ ...details, ...leftOut }, `${message} ${databaseWords(err)}`]
  }
}
