/** The pages as files: what is cached, what is compressed, which addresses are pages, and a server without a build. */
import Fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { asksForPage, registerUi } from '../../../src/http/pages/ui.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const open = await openScene()
const closed = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word', PUBLIC_API_KEY: 'k' } })
afterAll(() => Promise.all([open.close(), closed.close()]))

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const policyOf = (headers: Headers) => headers.get('content-security-policy') ?? ''

verifies(
  ['contract-8.docs', 'contract-1.two-commands'],
  'the first page and what it needs are open to everybody, from this server alone',
  async () => {
    for (const scene of [open, closed]) {
      const page = await scene.call('GET', '/')
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.headers.get('cache-control')).toBe('no-cache')
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
      const needed = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
      expect(needed.length).toBeGreaterThan(3)
      for (const path of needed) expect([path, (await scene.call('GET', path)).status]).toEqual([path, 200])
      expect(needed.every((path) => path.startsWith('/'))).toBe(true)
    }
  },
)

test('the page names the files that it needs, and leaves them until it has been painted', async () => {
  const named = async (path: string, rel: string) =>
    [
      ...(await open.call('GET', path, undefined, browser)).text.matchAll(
        /<link data-rel="([^"]+)"[^>]* href="([^"]+)"/g,
      ),
    ]
      .filter(([, found]) => found === rel)
      .map(([, , href]) => href ?? '')
  const libraries = await named('/prompts', 'modulepreload')
  const kinds = libraries.map((file) => /^\/assets\/([a-z]+(?:-runtime)?)-/.exec(file)?.[1])
  expect(kinds.sort()).toEqual(['base', 'begin', 'mantine', 'react', 'rolldown-runtime', 'start'])
  for (const [path, part] of [
    ['/', 'home-page'],
    ['/?from=mail', 'home-page'],
    ['/playground', 'playground-page'],
    ['/playground/1/2?find=x', 'playground-page'],
    ['/sessions', 'sessions-page'],
  ] as const) {
    const files = [...(await named(path, 'modulepreload')), ...(await named(path, 'preload'))]
    expect([path, files.some((file) => file.startsWith(`/assets/${part}-`))]).toEqual([path, true])
    for (const file of files) expect([file, (await open.call('GET', file)).status]).toEqual([file, 200])
  }
  // Connections are few, and the first painting waits for the styles alone: a link without `rel` fetches nothing.
  const { text } = await open.call('GET', '/playground', undefined, browser)
  const early = [...text.matchAll(/<(?:link|script)[^>]* (?:rel|src)="[^>]*>/g)].map(([tag]) => tag)
  expect(early.filter((tag) => /playground-page|\/(?:react|mantine|base|start|begin)-[^>]*\.js/.test(tag))).toEqual([])
  expect((await open.call('GET', '/playgrounds', undefined, browser)).text).not.toContain('playground-page')
})

test('a browser that may see Home or the playground gets its first frame, before any script', async () => {
  const firstAt = async (scene: typeof open, path: string, headers = {}) =>
    /<html lang="en" data-first="(\w*)"/.exec(
      (await scene.call('GET', path, undefined, { ...browser, ...headers })).text,
    )?.[1]
  for (const [path, first] of [
    ['/', 'home'],
    ['/?from=mail', 'home'],
    ['/playground', 'chat'],
    ['/playground/1', 'chat'],
    ['/playground/1/?find=x', 'chat'],
    ['/playground/1/2?find=x', 'session'],
    ['/prompts', ''],
  ]) {
    expect([path, await firstAt(open, path ?? '')]).toEqual([path, first])
  }
  expect(await firstAt(closed, '/')).toBe('')
  expect(await firstAt(closed, '/', { cookie: 'greenroom_session=x' })).toBe('home')
})

test('the page says whether a login is required, before anything is asked', async () => {
  const saidBy = async (scene: typeof open) =>
    /<meta name="login" content="(\w+)"/.exec((await scene.call('GET', '/')).text)?.[1]
  expect(await Promise.all([open, closed].map(saidBy))).toEqual(['none', 'required'])
})

test('the policy allows no inline script, and style elements with this answer’s nonce alone', async () => {
  const [one, two] = [await open.call('GET', '/'), await open.call('GET', '/')]
  const nonces = [one, two].map(({ headers, text }) => {
    const nonce = /style-src 'self' 'nonce-([\w+/=]{24})'$/.exec(policyOf(headers))?.[1]
    expect(text).toContain(`<meta name="csp-nonce" content="${nonce}"`)
    return nonce
  })
  expect(nonces[0]).not.toBe(nonces[1])
  expect(policyOf(one.headers)).toMatch(/^default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self';/)
  expect(policyOf(one.headers)).not.toMatch(/unsafe|script-src|data:/)
  expect(one.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/)
})

test('what a page may not show is in frames of no origin, which none but these pages may hold', async () => {
  for (const [name, allows] of [
    ['diagram', "script-src 'self'; style-src 'unsafe-inline'"],
    ['picture', "script-src 'self'; style-src 'self'; img-src https: http:"],
  ]) {
    const { status, headers } = await open.call('GET', `/frames/${name}.html`, undefined, browser)
    expect([status, policyOf(headers)]).toEqual([
      200,
      `default-src 'none'; ${allows}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts`,
    ])
  }
  expect((await open.call('GET', '/frames/nothing.html', undefined, browser)).status).toBe(404)
})

test('files with a hash in their name are kept for ever, and come compressed', async () => {
  const { text } = await open.call('GET', '/')
  const script = /src="(\/assets\/entry-[\w-]+\.js)"/.exec(text)?.[1] ?? ''
  for (const encoding of ['br', 'gzip']) {
    const { headers, status } = await open.call('GET', script, undefined, { 'accept-encoding': encoding })
    expect([status, headers.get('content-encoding')]).toEqual([200, encoding])
    expect(headers.get('content-type')).toMatch(/javascript/)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  const mark = await open.call('GET', '/favicon.svg')
  expect([mark.status, mark.headers.get('cache-control')]).toEqual([200, 'public, max-age=0'])
})

test('an address of the pages’ router gives the page to a browser, and 404 to everyone else', async () => {
  for (const path of ['/prompts', '/agents/1?tab=use', '/no/such/page']) {
    const page = await open.call('GET', path, undefined, browser)
    expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
    expect(policyOf(page.headers)).toContain('nonce-')
    expect(page.headers.get('vary')).toBe('accept')
    const other = await open.call('GET', path, undefined, { accept: 'application/json' })
    expect([path, other.status, other.json]).toEqual([path, 404, { message: expect.any(String) }])
    expect(other.headers.get('vary')).toBe('accept')
  }
  for (const path of ['/api/nothing', '/assets/nothing.js', '/docs/nothing', '/livez/nothing']) {
    expect([path, (await open.call('GET', path, undefined, browser)).status]).toEqual([path, 404])
  }
  expect((await open.call('POST', '/prompts', {}, browser)).status).toBe(404)
})

verifies(
  'contract-31.share-page',
  'the page of shares is one page with headers of its own, whatever is asked for',
  async () => {
    const pages = []
    for (const scene of [open, closed])
      for (const [path, headers] of [
        ['/share/a/b', browser],
        ['/share/a/b/?x=1', {}],
        [`/share/${scene.agentId}/${'0'.repeat(300)}`, { accept: 'application/json' }],
      ] as const) {
        const page = await scene.call('GET', path, undefined, headers)
        expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
        expect(Object.fromEntries(page.headers)).toMatchObject({
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        })
        expect(policyOf(page.headers)).toMatch(
          /^default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'self' 'nonce-[\w+/=]{24}'$/,
        )
        expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|<form|<a /)
        pages.push(page.text.replace(/"csp-nonce" content="[^"]+"/, ''))
        for (const [, file = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g))
          expect([file, (await scene.call('GET', file)).status]).toEqual([expect.stringMatching(/^\//), 200])
      }
    expect(new Set(pages).size).toBe(1)
    expect((await open.call('POST', '/share/a/b', {}, browser)).status).toBe(404)
  },
)

test('without a build the server starts and / says how to make one', async () => {
  const app = Fastify()
  const sendPage = await registerUi(app, { login: 'none', folder: new URL('file:///nowhere/') })
  app.setNotFoundHandler((request, reply) => (asksForPage(request) ? sendPage(reply) : reply.code(404).send()))
  for (const url of ['/', '/prompts']) {
    const page = await app.inject({ url, headers: browser })
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.body).toContain('npm run build')
  }
  expect((await app.inject('/favicon.svg')).statusCode).toBe(404)
})

verifies('contract-34.break-it', 'what broke the demo answers as any unknown path', async () => {
  const answers = (path: string) =>
    Promise.all([open.call('GET', path), open.call('POST', path, {}), open.call('GET', path, undefined, browser)])
  for (const path of ['', '/status', '/kill', '/pause-database', '/cut-provider', '/drop-connection']) {
    const [got, posted, page] = await answers(`/break-it${path}`)
    const [unknown, , anyPage] = await answers(`/nowhere${path}`)
    expect([got.status, got.json]).toEqual([404, unknown.json])
    expect(posted.status).toBe(404)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      anyPage.status,
      anyPage.headers.get('content-type'),
    ])
  }
})
