/** Contract section 22: followers of lists between two readings of the changes, without a database. */
import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { createChangeTexts } from '../../../src/features/live-lists/routes/change-text.ts'
import { createFeed } from '../../../src/features/live-lists/routes/session-feed.ts'
import type { SessionChange } from '../../../src/features/live-lists/store/session-changes.ts'
import { verifies } from '../../verifies.ts'

const gone = (id: number): SessionChange => ({ id, agentId: 'a', deleted: true, sessionId: `s${id}`, userHash: null })

/** A list of an agent. `of`: whose it is. */
const listOf = (agentId: string, after = 5, of = 'key') => ({ agentId, users: [], children: true, after, of })

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
        changes: async ({ after, to }) => ({ changes: changes.filter(({ id }) => id > after && id <= to), to }),
        agents: async (ids) => new Set(ids),
      },
      (error) => {
        throw error
      },
    )
    const follow = (after: number) => feed.follow(listOf('a', after), patientSignal())
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

/** A feed whose followers are behind by one change each. */
function feedBehind(read: () => Promise<void>) {
  const fail = (error: unknown) => {
    throw error
  }
  return createFeed(
    {
      horizon: async () => ({ given: 9, writers: [] }),
      async changes({ to }) {
        await read()
        return { changes: [gone(9)], to }
      },
      agents: async (ids) => new Set(ids),
    },
    fail,
  )
}

verifies('contract-26.live-lists', 'followers that are behind are served in turns', async () => {
  const { served, followers, over } = await twentyBehind(async () => {})
  const turns: number[] = []
  for (let before = 0; before < followers.length; before = served()) {
    await setImmediate()
    turns.push(served() - before)
  }
  expect(Math.max(...turns)).toBe(1)
  await over()
})

verifies('contract-26.live-lists', 'two of them read a page at a time', async () => {
  let reading = 0
  let most = 0
  const { served, followers, over } = await twentyBehind(async () => {
    reading += 1
    most = Math.max(most, reading)
    for (let n = 0; n < 9; n++) await setImmediate()
    reading -= 1
  })
  while (served() < followers.length) await setImmediate()
  expect(most).toBe(2)
  await over()
})

verifies('contract-26.live-lists', 'a caller who follows many delays the list of another one by a page', async () => {
  const feed = feedBehind(async () => {
    for (let n = 0; n < 40; n++) await setImmediate()
  })
  await feed.position()
  const { signal } = new AbortController()
  const told: string[] = []
  const lists = [...Array.from({ length: 20 }, () => 'many'), 'one'].map((of) => ({
    of,
    changes: feed.follow(listOf('a', 5, of), signal),
  }))
  await Promise.all(
    lists.map(async ({ of, changes }) => {
      await changes.next()
      told.push(of)
    }),
  )
  // Every list asks for its page before the first is read: two read theirs, and one of the many is ahead in the turns.
  expect(told.indexOf('one')).toBeLessThan(5)
  for (const { changes } of lists) await changes.return(undefined)
})

async function twentyBehind(read: () => Promise<void>) {
  const feed = feedBehind(read)
  await feed.position()
  const { signal } = new AbortController()
  let served = 0
  const followers = Array.from({ length: 20 }, () => feed.follow(listOf('a'), signal))
  for (const follower of followers) {
    follower.next().then(() => {
      served += 1
    })
  }
  const over = async () => {
    for (const follower of followers) await follower.return(undefined)
  }
  return { served: () => served, followers, over }
}

verifies('contract-26.live-lists', 'what a follower is told of a change is made once for all', async () => {
  const session = { title: 'T' } as never
  const change: SessionChange = { id: 1, agentId: 'a', deleted: false, session, user: null }
  let made = 0
  const show = () => ({ made: ++made })
  const textOf = createChangeTexts()
  expect(textOf(change, show)).toBe('id: 1\nevent: session\ndata: {"made":1}\n\n')
  expect(textOf(change, show)).toBe(textOf(change, show))
  expect(textOf(change, () => ({ other: true }))).toContain('{"other":true}')
  expect(textOf({ ...change, id: 2 }, show)).toContain('{"made":2}')
})

verifies(
  'contract-35.lagging-standby',
  'a list breaks off when numbers are given out anew, and one that is followed again goes on from there',
  async () => {
    let changes = [gone(7)]
    let given = 100
    const feed = createFeed(
      {
        horizon: async () => ({ given, writers: [] }),
        changes: async ({ after, to }) => ({ changes: changes.filter(({ id }) => id > after && id <= to), to }),
        agents: async (ids) => new Set(ids),
      },
      (error) => {
        throw error
      },
    )
    const follow = (after: number) => feed.follow(listOf('a', after), patientSignal())
    expect(await feed.position()).toBe(100)
    const before = follow(100).next()
    given = 60
    await expect(before).rejects.toThrow('lost changes')
    expect(await feed.position()).toBe(60)
    const again = follow(60)
    changes = [gone(61)]
    given = 61
    expect((await again.next()).value).toEqual([gone(61)])
    await again.return(undefined)
  },
)
