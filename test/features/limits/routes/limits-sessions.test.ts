/** Contract section 35: a client secret that makes sessions by their own routes counts under requestsPerMinute. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { type LimitScene, openLimitScene } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  scene = await openLimitScene()
  scene.door.up.always(async (one) => {
    await one.text('Fine.')
    await one.finish()
  })
  await scene.limitUsers({ requestsPerMinute: 3, concurrentReplies: 1 })
})
afterAll(() => scene.close())

const usedBy = async (user: string) =>
  (await scene.manage('GET', `${scene.agent}/users/use?user=${user}`)).json.users[0]?.requestsLastMinute ?? 0

/** Requests of a user's secret. */
async function asUser(user: string) {
  const { door } = scene
  const secret = await door.secret(user)
  const post = (path: string, body: object, n = 0) =>
    door.as(secret, 'POST', `${door.deploy()}${path}`, body, scene.apps[n])
  return {
    make: (body: object = {}, n = 0) => post('/sessions', body, n),
    converse: () => post('/conversations', {}),
    respond: () => post('/responses', { input: 'Hi' }),
    remove: (id: string) => door.as(secret, 'DELETE', `${door.deploy()}/sessions/${id}`),
  }
}

verifies(
  'contract-35.made-by-secrets',
  'creating, forking and conversations count, and are 429 over the limit',
  async () => {
    const { make, converse, remove } = await asUser('ann')
    const made = await make()
    expect([made.status, made.headers.get('x-ratelimit-remaining-requests')]).toEqual([201, '2'])
    expect((await make({ fork_of: { session_id: made.json.id } })).status).toBe(201)
    expect((await converse()).status).toBe(200)
    for (const over of [await make({}, 1), await make({ fork_of: { session_id: made.json.id } }), await converse()]) {
      expect([over.status, Number(over.headers.get('retry-after')) > 0]).toEqual([429, true])
    }
    expect(await usedBy('ann')).toBe(3)
    expect((await remove(made.json.id)).status).toBe(204)
  },
)

verifies('contract-35.made-by-secrets', 'of requests that come together no more pass', async () => {
  const { make } = await asUser('ben')
  const sent = await Promise.all(Array.from({ length: 12 }, (_, n) => make({}, n % 2)))
  expect(sent.filter(({ status }) => status === 201)).toHaveLength(3)
})

verifies(
  'contract-35.made-by-secrets',
  'what is refused counts nothing, and a reply with its session once',
  async () => {
    const { make, respond } = await asUser('cleo')
    const id = randomUUID()
    expect((await make({ id })).status).toBe(201)
    expect((await make({ id })).status).toBe(409)
    expect((await make({ fork_of: { session_id: randomUUID() } })).status).toBe(404)
    expect(await usedBy('cleo')).toBe(1)
    // Nothing holds the one place.
    expect((await respond()).status).toBe(200)
    expect(await usedBy('cleo')).toBe(2)
  },
)

verifies('contract-35.made-by-secrets', 'a deploy key’s own sessions count for nobody', async () => {
  for (let n = 0; n < 4; n++) await scene.door.session('dan')
  expect(await usedBy('dan')).toBe(0)
})
