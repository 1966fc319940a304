/** Contract section 22: followers of lists between two readings of the changes, without a database. */
import { expect } from 'vitest'
import { createFeed } from '../../../src/features/live-lists/routes/session-feed.ts'
import type { SessionChange } from '../../../src/features/live-lists/store/session-changes.ts'
import { verifies } from '../../verifies.ts'

const gone = (id: number): SessionChange => ({ id, agentId: 'a', deleted: true, sessionId: `s${id}`, userHash: null })

/** A signal that nothing aborts, and that ends a loop which goes round without a pause: no timer could end that. */
function patientSignal(): AbortSignal {
  const { signal } = new AbortController()
  let looks = 0
  const aborted = () => {
    looks += 1
    if (looks > 100) throw new Error('A follower goes round without a pause.')
    return false
  }
  return Object.defineProperty(signal, 'aborted', { get: aborted })
}

verifies(
  'contract-22.session-stream-ids',
  'behind the end of a reading, the rest is read, once and in order',
  async () => {
    const changes: SessionChange[] = []
    const given = () => changes.at(-1)?.id ?? 5
    const feed = createFeed(
      {
        horizon: async () => ({ given: given(), writers: [] }),
        changes: async ({ after, to }) => changes.filter(({ id }) => id > after && id <= to),
        agents: async (ids) => new Set(ids),
      },
      (error) => {
        throw error
      },
    )
    const follow = (after: number) => feed.follow({ agentId: 'a', users: [], after }, patientSignal())
    expect(await feed.position()).toBe(5)
    const first = follow(5)
    changes.push(gone(7))
    expect((await first.next()).value).toEqual([gone(7)])
    // The next reading is a timer away. Whoever comes meanwhile moves the horizon.
    changes.push(gone(9))
    expect(await feed.position()).toBe(9)
    const behind = [follow(5), follow(6), follow(7), follow(8)]
    for (const follower of behind.slice(0, 2)) expect((await follower.next()).value).toEqual([gone(7)])
    for (const follower of behind) expect((await follower.next()).value).toEqual([gone(9)])
    for (const follower of [first, ...behind]) await follower.return(undefined)
  },
)
