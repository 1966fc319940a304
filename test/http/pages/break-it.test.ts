/** `/break-it` exists for the person at the machine alone (contract section 16): for others every path is 404. */
import { request as open } from 'node:http'
import Fastify from 'fastify'
import { afterAll, beforeEach, describe, expect } from 'vitest'
import { createBreakIt } from '../../../src/compose/break-it.ts'
import { type BreakIt, registerBreakIt } from '../../../src/http/pages/break-it.ts'
import { createDemoLine } from '../../../src/providers/demo.ts'
import { readSettings } from '../../../src/settings.ts'
import { isLoopback } from '../../../src/settings-checks.ts'
import { startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'

const done: string[] = []
let hasDemo = true
const breakIt: BreakIt = {
  command: (port) => `PORT=${port} npm start`,
  kill: () => void done.push('kill'),
  pauseDatabase: async () => void done.push('pause-database'),
  cutProvider: () => void done.push('cut-provider'),
  hasDemo: async () => hasDemo,
}

async function serve(given: BreakIt | null) {
  const app = Fastify()
  await registerBreakIt(app, async (reply) => reply.type('text/html').send('<title>page</title>'), given)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

const app = await serve(breakIt)
const without = await serve(null)
afterAll(() => Promise.all([app.close(), without.close()]))
beforeEach(() => {
  done.length = 0
  hasDemo = true
})

interface Ask {
  server?: typeof app
  method?: string
  headers?: Record<string, string>
}

/** node:http, which sends the headers that are given and no others. */
function ask(path: string, { server = app, method = 'GET', headers = {} }: Ask = {}) {
  const { port } = Object(server.server.address())
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = open({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
    response.resume()
    response.once('end', () => resolve(response.statusCode ?? 0))
  })
  request.once('error', reject)
  request.end()
  return { status: promise, origin: `http://127.0.0.1:${port}` }
}

const { origin } = ask('/')
const page = { accept: 'text/html' }
const posts = ['kill', 'pause-database', 'cut-provider', 'drop-connection']

verifies('contract-16.break-it', 'the page, its status and its buttons answer the page itself', async () => {
  expect(await ask('/break-it', { headers: page }).status).toBe(200)
  expect(await ask('/break-it').status).toBe(200)
  expect(await ask('/break-it/status').status).toBe(200)
  for (const name of posts)
    expect(await ask(`/break-it/${name}`, { method: 'POST', headers: { origin } }).status).toBe(204)
  expect(done).toEqual(['kill', 'pause-database', 'cut-provider'])
})

describe.each(['/break-it', '/break-it/status', ...posts.map((name) => `/break-it/${name}`)])('%s', (path) => {
  const isPost = path.split('/').length > 2 && !path.endsWith('status')
  const with404 = async (headers: Record<string, string>, server = app) => {
    const own = isPost ? { origin } : page
    const status = await ask(path, { server, method: isPost ? 'POST' : 'GET', headers: { ...own, ...headers } }).status
    expect([status, done], JSON.stringify(headers)).toEqual([404, []])
  }
  verifies('contract-16.break-it', 'is 404 where a proxy has touched the request', async () => {
    await with404({ forwarded: 'for=127.0.0.1' })
    await with404({ 'x-forwarded-for': '127.0.0.1' })
    await with404({ 'X-Forwarded-Anything': '' })
    await with404({ via: '1.1 proxy' })
    for (const name of [
      'x-real-ip',
      'cf-connecting-ip',
      'true-client-ip',
      'x-client-ip',
      'cdn-loop',
      'x-original-forwarded-for',
    ])
      await with404({ [name]: '203.0.113.1' })
  })
  verifies('contract-16.break-it', 'is 404 by a name of somebody else', () => with404({ host: 'evil.example' }))
  verifies('contract-16.break-it', 'is 404 without the demo agent', async () => {
    hasDemo = false
    await with404({})
  })
  verifies('contract-16.break-it', 'is 404 where settings do not allow it', () => with404({}, without))
})

verifies('contract-16.break-it', 'a POST without the page’s own Origin is 404', async () => {
  for (const headers of [
    {},
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: origin.replace('http', 'https') },
  ]) {
    for (const name of posts) {
      expect(await ask(`/break-it/${name}`, { method: 'POST', headers: { ...headers } }).status).toBe(404)
    }
  }
  expect(done).toEqual([])
})

verifies('contract-16.break-it', 'settings that allow more than the demo leave it out', () => {
  const embedded = { url: '', stop: async () => {}, pause: async () => {} }
  const own = { kill: () => {}, command: () => '' }
  const sql = Object(null)
  const line = createDemoLine()
  const made = (env: Record<string, string>, parts = {}) => {
    const settings = readSettings(env)
    const loopbackOnly = isLoopback(settings.host)
    return createBreakIt({ settings, loopbackOnly, embedded, sql, line, own, ...parts }) !== null
  }
  expect(made({})).toBe(true)
  expect(made({ HOST: '::1' })).toBe(true)
  expect(made({}, { embedded: null })).toBe(false)
  expect(made({}, { own: null })).toBe(false)
  expect(made({ HOST: '0.0.0.0' })).toBe(false)
  expect(made({ AUTH_CREDENTIALS: 'anna:secret-word' })).toBe(false)
  expect(made({ TRUST_PROXY: '1' })).toBe(false)
  expect(made({ ALLOWED_HOSTS: 'demo.example' })).toBe(false)
})

verifies('contract-16.break-it', 'an ordinary server answers 404 on all of it', async () => {
  await using product = await startTestApp()
  for (const path of ['/break-it', '/break-it/status']) {
    expect((await fetch(product.url + path, { headers: page })).status).toBe(404)
  }
  for (const name of posts) {
    const answer = await fetch(`${product.url}/break-it/${name}`, { method: 'POST', headers: { origin: product.url } })
    expect(answer.status).toBe(404)
  }
})
