/** Sign-in at an identity provider (contract section 33), against one that speaks the protocol over HTTP. */
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

verifies('contract-33.flow', 'a person signs in, on whichever instance the callback arrives', async () => {
  const browser = scene.browser()
  const begun = await browser.start('/agents?q=1')
  expect(begun.status).toBe(302)
  const sent = new URL(begun.headers.get('location') ?? '')
  expect(Object.fromEntries(sent.searchParams)).toMatchObject({
    client_id: 'greenroom',
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid profile email',
    redirect_uri: 'http://127.0.0.1:1/api/auth/oidc/callback',
    nonce: expect.stringMatching(/.{20}/),
    state: expect.stringMatching(/.{20}/),
  })
  const cookie = begun.headers.getSetCookie()[0]
  expect(cookie).toMatch(/^greenroom_oidc=.*; Max-Age=600; Path=\/api\/auth\/oidc; HttpOnly; SameSite=Lax$/)
  const callback = new URL(provider.consent(sent.href))
  const back = await browser.ask(`${callback.pathname}${callback.search}`, { at: scene.there.url })
  expect([back.status, back.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/agents?q=1'])
  expect([...browser.jar.keys()]).toEqual(['greenroom_session'])
  expect((await browser.ask('/api/auth/me')).json()).toEqual({ username: 'anna', role: 'editor', method: 'oidc' })
  expect((await browser.ask('/api/auth/status')).json()).toEqual({
    authRequired: true,
    authenticated: true,
    methods: ['password', 'oidc'],
    oidcUrl: 'http://127.0.0.1:1/api/auth/oidc/start',
  })
  expect(await scene.entries(1)).toMatchObject([
    {
      actor: 'anna',
      actor_kind: 'oidc',
      action: 'login',
      kind: 'login',
      record_name: 'anna',
      changes: { subject: { from: null, to: 'u1' }, role: { from: null, to: 'editor' } },
    },
  ])
})

verifies('contract-33.flow', 'what is stored of the tokens is sealed', async () => {
  await scene.browser().signIn()
  const rows = await scene.sql`select id_token, refresh_token from oidc_logins`
  for (const row of rows)
    expect([row.id_token, row.refresh_token]).toEqual([expect.stringMatching(/^v1\./), expect.stringMatching(/^v1\./)])
})

verifies('contract-33.flow', 'a place that is not a path of this server counts as the first page', async () => {
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb', '', `/${'x'.repeat(2000)}`]) {
    const done = await scene.browser().signIn(to)
    expect([to.slice(0, 20), done.headers.get('location')]).toEqual([to.slice(0, 20), 'http://127.0.0.1:1/'])
  }
})

verifies('contract-33.flow', 'a place is written so that a header may hold it', async () => {
  const places = {
    '/agents?q=漢é': '/agents?q=%E6%BC%A2%C3%A9',
    '/a b#“c”': '/a%20b#%E2%80%9Cc%E2%80%9D',
    '/%E6': '/%E6',
  }
  for (const [to, shown] of Object.entries(places)) {
    const done = await scene.browser().signIn(to)
    expect([done.status, done.headers.get('location')]).toEqual([302, `http://127.0.0.1:1${shown}`])
  }
})

verifies('contract-33.refused', 'what is no answer to this browser’s start makes no session', async () => {
  const ways: [string, (query: URLSearchParams) => void][] = [
    ['no state', (query) => query.delete('state')],
    ['another state', (query) => query.set('state', 'x')],
    ['a wrong issuer', (query) => query.set('iss', 'https://evil.example')],
    ['no issuer, though it promised one', (query) => query.delete('iss')],
    ['an error', (query) => query.set('error', 'access_denied')],
    ['no code', (query) => query.delete('code')],
    ['two codes', (query) => query.append('code', 'another')],
  ]
  for (const [name, change] of ways) {
    const browser = scene.browser()
    const done = await browser.back(await browser.start(), change)
    expect([name, done.status, browser.jar.has('greenroom_session')]).toEqual([name, 400, false])
    expect(done.text).not.toMatch(/access_denied|evil/)
    expect(done.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(done.headers.get('referrer-policy')).toBe('no-referrer')
    expect(done.headers.get('cache-control')).toBe('no-store')
  }
  const other = scene.browser()
  const callback = new URL(provider.consent((await scene.browser().start()).headers.get('location') ?? ''))
  expect((await other.ask(`${callback.pathname}${callback.search}`)).status).toBe(400)
  expect(await scene.entries(1)).toMatchObject([{ action: 'login_failed', actor: null, actor_kind: 'oidc' }])
})

verifies('contract-33.refused', 'an ID token that is not good is 502, and one without a role is 403', async () => {
  const now = Math.floor(Date.now() / 1000)
  const ways: [string, number, NonNullable<typeof provider.spoil>][] = [
    ['another audience', 502, (claims, sign) => sign({ ...claims, aud: 'another' })],
    ['another authorized party', 502, (claims, sign) => sign({ ...claims, aud: ['greenroom', 'b'], azp: 'b' })],
    ['another authorized party of one', 502, (claims, sign) => sign({ ...claims, azp: 'b' })],
    ['a subject that cannot be stored', 502, (claims, sign) => sign({ ...claims, sub: 'u\0' })],
    ['another issuer', 502, (claims, sign) => sign({ ...claims, iss: 'https://evil.example' })],
    ['expired', 502, (claims, sign) => sign({ ...claims, exp: now - 600, iat: now - 900 })],
    ['another nonce', 502, (claims, sign) => sign({ ...claims, nonce: 'another' })],
    ['a broken signature', 502, async (claims, sign) => `${(await sign(claims)).slice(0, -8)}AAAAAAAA`],
    ['no algorithm', 502, async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['a shared secret', 502, async (claims) => `${encode({ alg: 'HS256' })}.${encode(claims)}.AAAA`],
    ['no role', 403, (claims, sign) => sign({ ...claims, groups: ['others'] })],
  ]
  for (const [name, status, spoil] of ways) {
    provider.spoil = spoil
    const browser = scene.browser()
    const done = await browser.signIn()
    expect([name, done.status, browser.jar.has('greenroom_session')]).toEqual([name, status, false])
  }
  expect(await scene.entries(1)).toMatchObject([{ action: 'login_failed', actor: 'anna', record_name: 'anna' }])
})
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

verifies('contract-33.refused', 'an issuer that is away is 502 at the start and at the callback', async () => {
  const browser = scene.browser()
  const begun = await browser.start()
  provider.status = 503
  expect((await browser.back(begun)).status).toBe(502)
})

verifies('contract-33.refused', 'failed callbacks of an address are counted over all instances', async () => {
  const requests = provider.requests.length
  for (let n = 0; n < 30; n++) {
    const at = n % 2 === 0 ? scene.here.url : scene.there.url
    expect((await scene.browser(at).ask('/api/auth/oidc/callback?state=x&code=y')).status).toBe(400)
  }
  const browser = scene.browser()
  const refused = await browser.signIn()
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect(provider.requests.length).toBe(requests)
})

verifies(
  'contract-33.claims',
  'the role is in userinfo where the ID token lacks the claim, and the highest counts',
  async () => {
    provider.person = { sub: 'u2', email: 'b@example.com' }
    provider.userInfo = { groups: ['readers', 'admins'] }
    const browser = scene.browser()
    await browser.signIn()
    expect((await browser.ask('/api/auth/me')).json()).toEqual({
      username: 'b@example.com',
      role: 'admin',
      method: 'oidc',
    })
  },
)

verifies('contract-33.claims', 'a name is shown only, so what cannot be stored of it is replaced', async () => {
  provider.person = { sub: 'u3', preferred_username: 'an\0na\ud800', groups: 'readers', azp: 'greenroom' }
  const browser = scene.browser()
  await browser.signIn()
  expect((await browser.ask('/api/auth/me')).json().username).toBe('an\uFFFDna\uFFFD')
})

verifies('contract-33.claims', 'a key that the issuer has just begun to use is found at once', async () => {
  await scene.browser().signIn()
  await provider.newKey()
  expect((await scene.browser().signIn()).status).toBe(302)
})
