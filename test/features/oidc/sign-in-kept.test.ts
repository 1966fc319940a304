/** The things that a sign-in keeps, and for how long (contract section 33). */
import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest'
import { readRoleRules } from '../../../src/features/oidc/claims.ts'
import { createSignIns, type OidcSettings } from '../../../src/features/oidc/sign-in.ts'
import { verifies } from '../../verifies.ts'
import { openSignIn, ROLES } from './scene.ts'

const scene = await openSignIn({ OIDC_RECHECK_S: '1' })
const { provider } = scene
afterAll(() => scene.close())
beforeEach(() => {
  provider.person = { sub: 'u1', preferred_username: 'anna', groups: ['writers'] }
})
afterEach(() => void vi.useRealTimers())

const isDue = () => scene.sql`update oidc_logins set next_look = clock_timestamp() - interval '1 second'`

verifies('contract-33.look', 'a refresh token stays in use where a refresh brings no other', async () => {
  const browser = scene.browser()
  await browser.signIn()
  provider.refreshes = false
  const used: (string | null)[] = []
  for (let time = 0; time < 2; time += 1) {
    await isDue()
    expect((await browser.ask('/api/auth/me')).status).toBe(200)
    used.push(provider.requests.at(-1)?.form.get('refresh_token') ?? null)
  }
  provider.refreshes = true
  expect(used).toEqual([expect.stringMatching(/^rt-/), used[0]])
  expect(provider.requests.slice(-2).map(({ grant }) => grant)).toEqual(['refresh_token', 'refresh_token'])
})

verifies('contract-33.look', 'a role that is taken away at the issuer ends on every instance by itself', async () => {
  const browser = scene.browser()
  await browser.signIn()
  const at = [scene.here.url, scene.there.url]
  const stream = await fetch(`${scene.there.url}/api/v1/sessions/stream`, { headers: { cookie: browser.cookie() } })
  const asked = async () => {
    const answers = await Promise.all(at.map((url) => browser.ask('/api/v1/sessions', { at: url })))
    return answers.map(({ status }) => status)
  }
  expect([stream.status, await asked()]).toEqual([200, [200, 200]])
  provider.person = { ...provider.person, groups: ['readers'] }
  await expect.poll(asked).toEqual([403, 403])
  await expect(stream.text()).rejects.toThrow()
  provider.person = { ...provider.person, groups: [] }
  await expect.poll(asked).toEqual([401, 401])
  expect(await scene.entries(2)).toMatchObject([
    { action: 'revoke', kind: 'login', actor_kind: 'system' },
    { action: 'update', kind: 'login', changes: { role: { from: 'editor', to: 'viewer' } } },
  ])
})

verifies(
  'contract-33.look',
  'while the issuer is silent no connection waits, and one instance alone asks',
  async () => {
    const browser = scene.browser()
    await browser.signIn()
    await isDue()
    const held = Promise.withResolvers<void>()
    provider.held = held.promise
    const before = provider.requests.length
    const asked = [scene.here.url, scene.there.url].map((at) => browser.ask('/api/auth/me', { at }))
    await expect.poll(() => provider.requests.length).toBe(before + 1)
    const [waiting] = await scene.sql<{ n: number }[]>`
    select count(*)::integer as n from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`
    expect(waiting?.n).toBe(0)
    provider.held = null
    held.resolve()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200])
    expect(provider.requests).toHaveLength(before + 1)
  },
)

verifies('contract-33.refused', 'a start that is older than ten minutes cannot be finished', async () => {
  const browser = scene.browser()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10 * 60_000 - 2000 })
  const begun = await browser.start()
  vi.useRealTimers()
  const back = await browser.back(begun)
  expect([back.status, back.text]).toEqual([400, expect.stringContaining('older than ten minutes')])
})

verifies('contract-33.refused', 'a sign-in that succeeds does not count among the failures', async () => {
  await scene.sql`delete from login_failures`
  expect((await scene.browser().signIn()).status).toBe(302)
  expect(await scene.sql`select 1 from login_failures`).toHaveLength(0)
})

verifies('contract-33.session', 'sessions are over with another issuer, client or rule for roles', () => {
  const settings: OidcSettings = {
    ...{ issuer: 'https://a.example', clientId: 'greenroom', clientSecret: null, scopes: 'openid', recheckS: 60 },
    ...{ rolesText: ROLES, roles: readRoleRules(ROLES), publicUrl: () => '' },
  }
  const hashOf = (changes: Partial<OidcSettings>) => {
    const given = { settings: { ...settings, ...changes } }
    // The hash is of the settings alone.
    return createSignIns(given as Parameters<typeof createSignIns>[0]).credentialHash.toString('hex')
  }
  const own = hashOf({})
  expect(hashOf({ scopes: 'openid email', recheckS: 1 })).toBe(own)
  const others = [{ issuer: 'https://b.example' }, { clientId: 'another' }, { rolesText: 'groups: *=viewer' }]
  for (const changes of others) expect([changes, hashOf(changes)]).not.toEqual([changes, own])
})
