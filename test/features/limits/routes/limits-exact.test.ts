/** Contract section 23: limits over two instances, with requests that come at the same moment. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { UpstreamCall } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'
import { type LimitScene, openLimitScene } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  // Leases are not the subject: 500 clients in one process must not lose one.
  scene = await openLimitScene({ OWNER_LEASE_MS: '60000' })
})
afterAll(() => scene.close())

/** Statuses of requests, or why they failed, and how many there were of each. */
const counted = (statuses: readonly (number | string)[]) => {
  const counts: Record<number | string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

verifies(
  'contract-23.limits-exact',
  '500 at the same time, 60 a minute and 5 at a time: 60 pass, 5 at most run',
  async () => {
    const { newKey, stateless, send, door, apps } = scene
    const { id, key } = await newKey({ requestsPerMinute: 60, concurrentReplies: 5 })
    const sessions = await Promise.all(Array.from({ length: 500 }, () => door.session(null)))
    let running = 0
    let most = 0
    door.up.always(async (call: UpstreamCall) => {
      running += 1
      most = Math.max(most, running)
      await call.text('one')
      running -= 1
      await call.finish()
    })
    // Each tries until it passes, or the minute is over for it; every second one stateless.
    const tryOn = async (session: string, n: number): Promise<number | string> => {
      for (;;) {
        const app = apps[n % 2]
        const answer = await (n % 4 < 2 ? stateless(key, {}, app) : send(key, session, {}, app))
        if (answer.status >= 500) return answer.text
        if (answer.status !== 429 || Number(answer.headers.get('retry-after')) > 1) return answer.status
      }
    }
    const statuses = await Promise.all(sessions.map(tryOn))
    expect(counted(statuses)).toEqual({ 200: 60, 429: 440 })
    expect(most).toBeLessThanOrEqual(5)
    expect((await scene.manage('GET', `/api/v1/keys/${id}/use`)).json).toMatchObject({
      requestsLastMinute: 60,
      runningReplies: 0,
    })
  },
)

verifies('contract-23.limits-exact', 'each user of an agent has its own, in sessions and stateless', async () => {
  const { limitUsers, send, stateless, door, apps, newKey } = scene
  await limitUsers({ requestsPerMinute: 3 })
  door.says('Fine.')
  const { key } = await newKey(null)
  const users = ['ann', 'bob']
  const sent = users.flatMap((user) =>
    Array.from({ length: 20 }, async (_, n) => {
      const app = apps[n % 2]
      const answer = n % 4 < 2 ? stateless(key, { user }, app) : send(key, await door.session(user), {}, app)
      return { user, status: (await answer).status }
    }),
  )
  const answers = await Promise.all(sent)
  for (const user of users) {
    const of = answers.filter((one) => one.user === user).map(({ status }) => status)
    expect([user, counted(of)]).toEqual([user, { 200: 3, 429: 17 }])
  }
  for (let n = 0; n < 5; n += 1) expect((await stateless(key)).status).toBe(200) // nobody has none
  expect((await stateless(key, { user: 'cy', store: true })).headers.get('x-greenroom-ignored')).toBe('store')
  await limitUsers(null)
  expect((await stateless(key, { user: 'ann' })).headers.get('x-greenroom-ignored')).toBe('user')
})
