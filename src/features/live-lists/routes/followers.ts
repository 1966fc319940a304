/** How many lists that live somebody may follow at a time, on all instances together (contract section 35). */
import { inTurns } from '../../../async/in-turns.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import type { FollowedStore } from '../store/followed-lists.ts'

/** A holder of lists: a user with an agent, by a client secret, or a key. */
export interface Follower {
  kind: 'user' | 'key'
  id: string
}

const MOST = { user: 8, key: 64 } satisfies Record<Follower['kind'], number>

export interface Followers {
  /** Counts one more list, until it is disposed. Rejects with 429, and while the database is away. */
  enter(follower: Follower): Promise<Disposable>
  /** Stores the numbers whose last statement had no answer. Call once a second. */
  tend(): Promise<void>
}

export function createFollowers(store: FollowedStore): Followers {
  const counts = new Map<string, number>()
  /** Subjects of whose statements one had no answer: it may be carried out yet. */
  const doubtful = new Set<string>()
  /** Subjects whose last statement had none. */
  const untold = new Set<string>()
  let number = 0
  /** Statements of a subject come one after the other, each with the number of its time. */
  const turns = inTurns()
  const inTurn = (subject: string, work: () => Promise<boolean>): Promise<boolean> =>
    turns(subject, async () => {
      try {
        untold.delete(subject)
        return await work()
      } catch (error) {
        doubtful.add(subject)
        untold.add(subject)
        throw error
      }
    })
  const numberOf = (subject: string): number => counts.get(subject) ?? 0
  const put = (subject: string, lists: number, most: number | null) =>
    store.store({ subject, number: ++number, lists, most, keeps: doubtful.has(subject) })
  const tell = (subject: string) => inTurn(subject, () => put(subject, numberOf(subject), null))

  return {
    async enter({ kind, id }) {
      const subject = `${kind} ${id}`
      const isCounted = await inTurn(subject, async () => {
        const lists = numberOf(subject) + 1
        if (lists > MOST[kind] || !(await put(subject, lists, MOST[kind]))) return false
        counts.set(subject, numberOf(subject) + 1)
        return true
      })
      if (!isCounted) {
        const words = `This ${kind} follows ${MOST[kind]} lists of sessions already.`
        throw new HttpError(429, words, { 'retry-after': '1' })
      }
      return {
        [Symbol.dispose]() {
          const left = numberOf(subject) - 1
          if (left > 0) counts.set(subject, left)
          else counts.delete(subject)
          void tell(subject).catch(() => {})
        },
      }
    },
    async tend() {
      await Promise.all([...untold].map(tell))
    },
  }
}
