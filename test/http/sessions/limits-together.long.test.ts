/** Limits whose requests come at the same moment, on two instances: no more pass than each of them says. */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSignIn } from '../../features/oidc/scene.ts'
import { bearer, DEPLOY_KEY, say } from '../../features/users/access/front-door-scene.ts'
import type { TestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'

let scene: Awaited<ReturnType<typeof openSignIn>>
const leaving = new AbortController()
beforeAll(async () => {
  // Leases are not the subject: a hundred clients in one process must not lose one.
  scene = await openSignIn({ OWNER_LEASE_MS: '60000' })
})
afterAll(async () => {
  leaving.abort()
  await scene.close()
})

/** The statuses of requests that are sent at once, to both instances in turn, and how many there were of each. */
async function together(
  count: number,
  send: (app: TestApp, n: number) => Promise<number>,
): Promise<Record<number, number>> {
  const apps = [scene.here, scene.there]
  const statuses = await Promise.all(Array.from({ length: count }, (_, n) => send(apps[n % 2] as TestApp, n)))
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** The status of an answer whose body stays open until all is over. */
async function opened(app: TestApp, token: string, path: string, body?: object): Promise<number> {
  const answer = await fetch(`${app.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...bearer(token), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: leaving.signal,
  })
  return answer.status
}

const limitUsers = async (limits: object | null) => {
  await scene.sql`update agents set user_limits = ${limits === null ? null : JSON.stringify(limits)}::text::jsonb`
}

verifies('contract-35.limits-together', 'fifty shares of a session', async () => {
  const path = `${scene.deploy()}/sessions/${await scene.session('ann')}/shares`
  expect(await together(70, async (app) => (await scene.asKey('POST', path, {}, app)).status)).toEqual({
    201: 50,
    409: 20,
  })
})

verifies('contract-35.limits-together', 'a hundred streams of a share on an instance', async () => {
  const session = `${scene.deploy()}/sessions/${await scene.session('ann')}`
  const { token } = (await scene.asKey('POST', `${session}/shares`, { live: true })).json
  void scene.byHand() // the reply stays open
  await opened(scene.here, DEPLOY_KEY, `${session}/chat/completions`, say('Hi', { stream: true }))
  const open = (app: TestApp) => opened(app, token, `${session}/chat/completions/stream`)
  expect(await together(240, open)).toEqual({ 200: 200, 429: 40 })
})

verifies('contract-35.limits-together', 'twenty messages in a queue', async () => {
  const path = `${scene.deploy()}/sessions/${await scene.session('ann')}/chat/completions`
  void scene.byHand() // the reply stays open
  await opened(scene.here, DEPLOY_KEY, path, say('Hi', { stream: true }))
  const send = (app: TestApp, n: number) =>
    opened(app, DEPLOY_KEY, path, say(`${n}`, { stream: true, on_busy: 'enqueue' }))
  expect(await together(40, send)).toEqual({ 200: 20, 409: 20 })
})

verifies('contract-35.limits-together', 'eight live lists of a user', async () => {
  const secret = await scene.secret('lea')
  const follow = (app: TestApp) => opened(app, secret, `${scene.deploy()}/sessions/stream`)
  expect(await together(24, follow)).toEqual({ 200: 8, 429: 16 })
})

verifies('contract-35.limits-together', 'requests a minute of a user: sessions, forks and feedback', async () => {
  scene.says('Fine.')
  const [secret, sessionId] = [await scene.secret('rae'), await scene.session('rae')]
  const session = `${scene.deploy()}/sessions/${sessionId}`
  await scene.asKey('POST', `${session}/chat/completions`, say('Hi'))
  const reply = (await scene.asKey('GET', `${session}/messages`)).json.messages.at(-1).id
  const sends: Record<string, (app: TestApp, n: number) => Promise<{ status: number }>> = {
    sessions: (app) => scene.as(secret, 'POST', `${scene.deploy()}/sessions`, {}, app),
    forks: (app) => scene.as(secret, 'POST', `${scene.deploy()}/sessions`, { fork_of: { session_id: sessionId } }, app),
    feedback: (app, n) =>
      scene.as(secret, 'PUT', `${session}/messages/${reply}/feedback`, { score: 1, comment: `${n}` }, app),
  }
  for (const [name, send] of Object.entries(sends)) {
    await scene.sql`delete from limit_requests`
    await limitUsers({ requestsPerMinute: 7 })
    const counts = await together(30, async (app, n) => (await send(app, n)).status)
    const passed = (counts[200] ?? 0) + (counts[201] ?? 0)
    expect([name, passed, counts[429]]).toEqual([name, 7, 23])
  }
  await limitUsers(null)
})

verifies('contract-35.limits-together', 'thirty failed callbacks of an address', async () => {
  const asked = scene.provider.requests.length
  const back = async (app: TestApp) =>
    (await scene.browser(app.url).ask('/api/auth/oidc/callback?state=x&code=y')).status
  expect(await together(80, back)).toEqual({ 400: 30, 429: 50 })
  expect(scene.provider.requests.length).toBe(asked)
})
