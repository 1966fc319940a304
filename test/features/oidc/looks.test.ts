/** Sign-ins as they go on: looks at the issuer, logout, other settings (contract section 33). */
import { afterAll, beforeEach, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openSignIn } from './scene.ts'

const scene = await openSignIn({ OIDC_RECHECK_S: '1' })
const { provider } = scene
afterAll(() => scene.close())
beforeEach(async () => {
  Object.assign(provider, { refreshes: true, spoil: null, refuses: null, metadata: {}, userInfo: {} })
  Object.assign(provider, { status: null, userInfoStatus: null })
  provider.person = { sub: 'u1', preferred_username: 'anna', groups: ['writers'] }
  await scene.sql`delete from login_failures`
})

const isDue = () => scene.sql`update oidc_logins set next_look = clock_timestamp() - interval '1 second'`

verifies(
  'contract-33.look',
  'a look gives name and role anew, on that very request; one of all requests makes it',
  async () => {
    const browser = scene.browser()
    await browser.signIn()
    provider.person = { sub: 'u1', preferred_username: 'anne', groups: ['admins'] }
    await isDue()
    const before = provider.requests.length
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        browser.ask('/api/auth/me', { at: n % 2 ? scene.here.url : scene.there.url }),
      ),
    )
    for (const answer of answers) expect(answer.json()).toEqual({ username: 'anne', role: 'admin', method: 'oidc' })
    expect(provider.requests.slice(before).map(({ grant }) => grant)).toEqual(['refresh_token'])
    expect(await scene.entries(1)).toMatchObject([
      {
        action: 'update',
        kind: 'login',
        actor_kind: 'system',
        record_name: 'anne',
        changes: { role: { from: 'editor', to: 'admin' } },
      },
    ])
  },
)

verifies('contract-33.look', 'a grant that is gone, another person, or no role ends the session', async () => {
  const ways: (() => void)[] = [
    () => {
      provider.refuses = 'invalid_grant'
    },
    () => {
      provider.person = { ...provider.person, sub: 'another' }
    },
    () => {
      provider.person = { ...provider.person, groups: [] }
    },
  ]
  for (const change of ways) {
    Object.assign(provider, { refuses: null, person: { sub: 'u1', preferred_username: 'anna', groups: ['writers'] } })
    const browser = scene.browser()
    await browser.signIn()
    change()
    await isDue()
    const refused = await browser.ask('/api/v1/agents')
    expect([refused.status, browser.jar.has('greenroom_session')]).toEqual([401, false])
    expect(await scene.entries(1)).toMatchObject([
      { action: 'revoke', kind: 'login', actor_kind: 'system', record_name: 'anna' },
    ])
  }
})

verifies('contract-33.look', 'while the issuer is away the last role stands, for 12 hours', async () => {
  const browser = scene.browser()
  await browser.signIn()
  provider.status = 500
  await isDue()
  expect((await browser.ask('/api/auth/me')).json()).toMatchObject({ role: 'editor' })
  const [row] = await scene.sql`select next_look < clock_timestamp() + interval '2 seconds' as soon from oidc_logins`
  expect(row, 'OIDC_RECHECK_S is shorter than 30 s').toEqual({ soon: true })
  await scene.sql`update oidc_logins set looked_at = looked_at - interval '13 hours'`
  await isDue()
  expect((await browser.ask('/api/v1/agents')).status).toBe(401)
})

verifies(
  'contract-33.look',
  'what userinfo does not confirm goes on, with the refresh token that came before',
  async () => {
    provider.person = { sub: 'u1', preferred_username: 'anna' }
    provider.userInfo = { groups: ['writers'] }
    const browser = scene.browser()
    await browser.signIn()
    const role = async () => (await browser.ask('/api/auth/me')).json().role
    for (const userInfoStatus of [503, 429, 502]) {
      provider.userInfoStatus = userInfoStatus
      await isDue()
      expect(await role()).toBe('editor')
    }
    Object.assign(provider, { userInfoStatus: null, userInfo: { groups: ['readers'] } })
    await isDue()
    expect(await role()).toBe('viewer')
  },
)

verifies(
  'contract-33.look',
  'without a refresh token the session ends with the ID token, and nobody is asked',
  async () => {
    provider.refreshes = false
    const browser = scene.browser()
    await browser.signIn()
    const before = provider.requests.length
    const [row] =
      await scene.sql`select next_look, ends_at > clock_timestamp() + interval '50 minutes' as later from oidc_logins o
    where refresh_token is null`
    expect(row).toEqual({ next_look: null, later: true })
    expect((await browser.ask('/api/v1/agents')).status).toBe(200)
    await scene.sql`update oidc_logins set ends_at = clock_timestamp() where refresh_token is null`
    expect((await browser.ask('/api/v1/agents')).status).toBe(401)
    expect(provider.requests.length).toBe(before)
  },
)

verifies('contract-33.look', 'a stream of management ends when the role no longer suffices', async () => {
  const browser = scene.browser()
  await browser.signIn()
  const stream = await fetch(`${scene.here.url}/api/v1/sessions/stream`, { headers: { cookie: browser.cookie() } })
  expect(stream.status).toBe(200)
  provider.person = { ...provider.person, groups: ['readers'] }
  await isDue()
  await expect(stream.text()).rejects.toThrow()
})

verifies(
  'contract-33.logout',
  'a logout deletes session and tokens, and names where the issuer signs out',
  async () => {
    const browser = scene.browser()
    await browser.signIn()
    const tokens = async () => (await scene.sql`select count(*)::integer as n from oidc_logins`)[0]?.n
    const before = await tokens()
    const plain = await browser.ask('/api/auth/logout', { method: 'POST' })
    expect([plain.status, await tokens()]).toEqual([204, before - 1])
    expect((await browser.ask('/api/v1/agents')).status).toBe(401)
    expect(await scene.entries(1)).toMatchObject([{ action: 'logout', actor: 'anna', actor_kind: 'oidc' }])
  },
)

verifies('contract-33.session', 'a session of other settings, or of a password of the same name, is none', async () => {
  const browser = scene.browser()
  await browser.signIn()
  await scene.sql`update logins set credential_hash = sha256('another') where method = 'oidc'`
  expect((await browser.ask('/api/v1/agents')).status).toBe(401)
})
