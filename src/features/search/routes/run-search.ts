/** A search as routes ask for it: its words are read, it has its turn and its time. */
import { createSemaphore } from '../../../async/semaphore.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Asked, Place } from '../store/candidates.ts'
import { SearchTooSlow, withinTime } from '../store/reading.ts'
import { readQuery, type Term } from '../text/query.ts'

/** Searches that an instance runs at once. */
const AT_ONCE = 2
const WAIT_MS = 2000

/** Reads the words of a query. Throws 400. */
export function termsIn(q: string | undefined): Asked['terms'] {
  const terms: readonly Term[] | string = q === undefined ? 'is required' : readQuery(q)
  return typeof terms === 'string' ? badRequest(`q: ${terms}`) : terms
}

/** Runs a search. `of`: who asks for it. */
export type RunSearch = <Result>(of: string, search: Parameters<typeof withinTime<Result>>[1]) => Promise<Result>

/** Makes the runner of searches. It throws 503 for one that waits or reads for too long. */
export function createSearches(sql: Sql): RunSearch {
  const turns = createSemaphore(AT_ONCE)
  return async (of, search) => {
    const turn = await turns.acquire(AbortSignal.timeout(WAIT_MS), of).catch(() => {
      throw new HttpError(503, 'Other searches are running: try again.', { 'retry-after': '1' })
    })
    using _ = turn
    try {
      return await withinTime(sql, search)
    } catch (error) {
      if (!(error instanceof SearchTooSlow)) throw error
      throw new HttpError(503, 'The search took too long: ask for more words, or for one user.', {
        'x-should-retry': 'false',
      })
    }
  }
}

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::?\d\d)?$/

/** Returns the cursor behind a session. */
export const cursorOf = ({ at, messageId }: Place): string => Buffer.from(`${at} ${messageId}`).toString('base64url')

/** Reads a cursor. Throws 400 for one that no page gave. */
export function placeOf(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [at, messageId] = [text.slice(0, text.lastIndexOf(' ')), text.slice(text.lastIndexOf(' ') + 1)]
  if (!TIME.test(at) || Number.isNaN(Date.parse(at)) || !isUuid(messageId) || cursorOf({ at, messageId }) !== cursor)
    return badRequest('cursor: is none of a page before')
  return { at, messageId }
}
