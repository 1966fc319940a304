/** Callbacks and ID tokens that were tampered with, late, replayed or another's (contract section 33): none signs in. */
import { afterAll, afterEach, expect, vi } from 'vitest'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { openSignIn } from './scene.ts'

const scene = await openSignIn()
const { provider } = scene
afterAll(() => scene.close())
afterEach(() => {
  vi.useRealTimers()
  Object.assign(provider, { spoil: null })
})
provider.person = { sub: 'u1', preferred_username: 'anna', groups: ['admins'] }

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Changes the highest bit of a character of base64url: the last character of a text has lower ones that mean nothing. */
const changed = (text: string, at: number): string => {
  const digit = DIGITS.indexOf(text.charAt(at))
  return `${text.slice(0, at)}${digit < 0 ? 'A' : DIGITS[digit ^ 32]}${text.slice(at + 1)}`
}

type Browser = ReturnType<typeof scene.browser>
type Begun = Awaited<ReturnType<Browser['start']>>
type Way = (browser: Browser, begun: Begun) => Promise<Awaited<ReturnType<Browser['ask']>>>

const sessions = async () => (await scene.sql`select count(*)::integer as n from logins`)[0]?.n

/** Goes each way with a browser of its own. Returns the ways that were not refused as they must be. */
async function tryAll(ways: readonly [string, Way][], statuses: readonly number[]): Promise<unknown[]> {
  const before = await sessions()
  const wrong: unknown[] = []
  for (const [name, go] of ways) {
    await scene.sql`delete from login_failures`
    const browser = scene.browser()
    const done = await go(browser, await browser.start())
    if (!statuses.includes(done.status) || browser.jar.has('greenroom_session')) wrong.push([name, done.status])
    if (/anna|code|state|eyJ/.test(done.text)) wrong.push([name, done.text])
  }
  expect(await sessions()).toBe(before)
  return wrong
}

const ofQuery = (name: string, at: number): [string, Way] => [
  `${name}, character ${at}`,
  (browser, begun) => browser.back(begun, (query) => query.set(name, changed(query.get(name) ?? '', at))),
]

verifies('contract-33.refused', 'a state in which one character is another', async () => {
  const { length } =
    new URL((await scene.browser().start()).headers.get('location') ?? '').searchParams.get('state') ?? ''
  expect(length).toBeGreaterThan(40)
  const ways = Array.from({ length }, (_, at) => ofQuery('state', at))
  const forms: [string, (state: string) => string][] = [
    ['cut', (state) => state.slice(0, -1)],
    ['longer', (state) => `${state}A`],
    ['padded', (state) => `${state}=`],
    ['with a space', (state) => `${state} `],
    ['in capitals', (state) => state.toUpperCase()],
    ['empty', () => ''],
  ]
  for (const [name, form] of forms)
    ways.push([
      name,
      (browser, begun) => browser.back(begun, (query) => query.set('state', form(query.get('state') ?? ''))),
    ])
  expect(await tryAll(ways, [400])).toEqual([])
})

verifies('contract-33.refused', 'a cookie in which one character is another', async () => {
  const browser = scene.browser()
  await browser.start()
  const { length } = browser.jar.get('greenroom_oidc') ?? ''
  const every = Math.ceil(length / samples(20, 60))
  const places = Array.from({ length: Math.ceil(length / every) }, (_, n) => n * every)
  const ways = places.map((at): [string, Way] => [
    `character ${at}`,
    (one, begun) => {
      one.jar.set('greenroom_oidc', changed(one.jar.get('greenroom_oidc') ?? '', at))
      return one.back(begun)
    },
  ])
  expect(ways.length).toBeGreaterThan(15)
  expect(await tryAll(ways, [400])).toEqual([])
})

verifies('contract-33.refused', 'an ID token in which one character is another', async () => {
  const parts = samples(24, 80)
  const ways = Array.from({ length: parts }, (_, n): [string, Way] => [
    `part ${n} of ${parts}`,
    (browser, begun) => {
      provider.spoil = async (claims, sign) => {
        const token = await sign(claims)
        return changed(token, Math.floor((n * token.length) / parts))
      }
      return browser.back(begun)
    },
  ])
  expect(await tryAll(ways, [502])).toEqual([])
})

verifies('contract-33.refused', 'what belongs to another sign-in, or was used', async () => {
  const other = async () => {
    const browser = scene.browser()
    const begun = await browser.start()
    return { browser, begun, callback: new URL(provider.consent(begun.headers.get('location') ?? '')) }
  }
  const anothers: [string, Way][] = [
    [
      'the cookie of another browser',
      async (browser, begun) => {
        browser.jar.set('greenroom_oidc', (await other()).browser.jar.get('greenroom_oidc') ?? '')
        return browser.back(begun)
      },
    ],
    [
      'no cookie',
      (browser, begun) => {
        browser.jar.clear()
        return browser.back(begun)
      },
    ],
    [
      'an earlier start of the same browser',
      async (browser, begun) => {
        await browser.start()
        return browser.back(begun)
      },
    ],
    [
      'a session in place of the cookie',
      async (browser, begun) => {
        const { browser: signedIn } = await other()
        await signedIn.signIn()
        await scene.sql`delete from logins`
        browser.jar.set('greenroom_oidc', signedIn.jar.get('greenroom_session') ?? '')
        return browser.back(begun)
      },
    ],
  ]
  await scene.sql`delete from logins`
  expect(await tryAll(anothers, [400])).toEqual([])
  const codes: [string, Way][] = [
    [
      'the code of another sign-in',
      async (browser, begun) => {
        const { callback } = await other()
        return browser.back(begun, (query) => query.set('code', callback.searchParams.get('code') ?? ''))
      },
    ],
    ['a code that nobody gave', (browser, begun) => browser.back(begun, (query) => query.set('code', 'x'.repeat(500)))],
    [
      'the callback once more, with its cookie',
      async (browser, begun) => {
        const cookie = browser.jar.get('greenroom_oidc') ?? ''
        const callback = new URL(provider.consent(begun.headers.get('location') ?? ''))
        const go = () => browser.ask(`${callback.pathname}${callback.search}`)
        await go()
        await scene.sql`delete from logins`
        browser.jar.clear()
        browser.jar.set('greenroom_oidc', cookie)
        return await go()
      },
    ],
  ]
  expect(await tryAll(codes, [502])).toEqual([])
})

verifies('contract-33.refused', 'a callback that comes ten minutes late', async () => {
  const late = (seconds: number): [string, Way] => [
    `after ${seconds} s`,
    (browser, begun) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })
      return browser.back(begun).finally(() => vi.useRealTimers())
    },
  ]
  expect(await tryAll([late(601), late(3600)], [400])).toEqual([])
  const browser = scene.browser()
  const begun = await browser.start()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 590_000 })
  expect((await browser.back(begun)).status).toBe(302)
})
