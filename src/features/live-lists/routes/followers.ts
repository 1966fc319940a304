/** How many lists that live somebody may follow at a time on this instance (contract section 35). */
import { HttpError } from '../../../http/server/http-error.ts'

/** A holder of lists: a user with an agent, by a client secret, or a key. */
export interface Follower {
  kind: 'user' | 'key'
  id: string
}

const MOST = { user: 8, key: 64 } satisfies Record<Follower['kind'], number>

export interface Followers {
  /** Counts one more list, until it is disposed. Throws 429. */
  enter(follower: Follower): Disposable
}

export function createFollowers(): Followers {
  const counts = new Map<string, number>()
  return {
    enter({ kind, id }) {
      const name = `${kind} ${id}`
      const count = counts.get(name) ?? 0
      if (count >= MOST[kind]) {
        const words = `This ${kind} follows ${MOST[kind]} lists of sessions already.`
        throw new HttpError(429, words, { 'retry-after': '1' })
      }
      counts.set(name, count + 1)
      return {
        [Symbol.dispose]() {
          const left = (counts.get(name) ?? 1) - 1
          if (left > 0) counts.set(name, left)
          else counts.delete(name)
        },
      }
    },
  }
}
