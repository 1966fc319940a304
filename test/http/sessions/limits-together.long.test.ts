/** Limits whose requests come at the same moment, on two instances: no more pass than each of them says. */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSignIn } from '../../features/oidc/scene.ts'
import { bearer } from '../../features/users/access/front-door-scene.ts'
import type { TestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'
import { limitSettings, type Pressed, type Row, rows, type Scene, type Tools } from './limits-table.ts'

let scene: Scene
let cookie = ''
beforeAll(async () => {
  // Leases are not the subject: a hundred clients in one process must not lose one.
  scene = await openSignIn({ OWNER_LEASE_MS: '60000', ...limitSettings })
  const login = { username: 'root', password: 'secret-word' }
  const { headers } = await call(`${scene.here.url}/api/auth/login`, 'POST', login)
  cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const prices = [{ model: 'test-model', prompt: 1_000_000, completion: 1_000_000 }]
  await manage('PUT', '/api/v1/settings/prices', { currency: '$', prices })
})
afterAll(() => scene.close())

async function manage(method: string, path: string, body: object) {
  const answer = await call(`${scene.here.url}${path}`, method, body, { cookie })
  if (answer.status > 201) throw new Error(answer.text)
  return answer.json
}

/** Sends the requests of a row at once, to both instances in turn. Returns how many answers there were of each status. */
async function together({ count, send }: Pressed): Promise<Record<number, number>> {
  const apps = [scene.here, scene.there]
  const statuses = await Promise.all(Array.from({ length: count }, (_, n) => send(apps[n % 2] as TestApp, n)))
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function toolsUntil(over: AbortSignal): Tools {
  return {
    scene,
    newKey: async (limits) => (await manage('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], limits })).key,
    async opened(app, token, path, body) {
      const answer = await fetch(`${app.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...bearer(token), ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: over,
      })
      return answer.status
    },
  }
}

const login = async (app: TestApp, username: string): Promise<number> => {
  const body = JSON.stringify({ username, password: 'wrong' })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${app.url}/api/auth/login`, { method: 'POST', headers, body })).status
}

const ofAddresses: Record<string, Row> = {
  'five failed logins of an address and name': async () => ({
    count: 20,
    send: (app) => login(app, 'root'),
    statuses: { 401: 5, 429: 15 },
  }),
  'thirty failed logins of an address': async () => ({
    count: 80,
    send: (app, n) => login(app, `nobody ${n}`),
    statuses: { 401: 30, 429: 50 },
  }),
  'thirty failed callbacks of an address': async ({ scene }) => ({
    count: 80,
    send: async (app) => (await scene.browser(app.url).ask('/api/auth/oidc/callback?state=x&code=y')).status,
    statuses: { 400: 30, 429: 50 },
  }),
}

for (const [name, row] of Object.entries({ ...rows, ...ofAddresses })) {
  verifies('contract-35.limits-together', name, async () => {
    const over = new AbortController()
    try {
      const pressed = await row(toolsUntil(over.signal))
      expect(await together(pressed)).toEqual(pressed.statuses)
    } finally {
      over.abort()
      await scene.sql`delete from login_failures`
      await scene.sql`update agents set user_limits = null`
      scene.says('Fine.')
    }
  })
}
