/** What applies to every management request: errors, origin, host, unknown paths (contract sections 1 and 2). */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorAnswer } from '../../../src/http/server/errors.ts'
import { refuseForeignHosts } from '../../../src/http/server/hosts.ts'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'
import { type Options, type Server, startServer } from './server.ts'

const credentials = [{ username: 'ann', password: 'secret' }]
let db: FreshDatabase
const servers: Server[] = []

beforeAll(async () => {
  db = await freshDatabase()
})
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))
afterAll(() => db.drop())

async function start(options: Partial<Options> = {}): Promise<Server> {
  const server = await startServer({ sql: db.sql, ...options })
  servers.push(server)
  return server
}

describe('errors are {message}', () => {
  test.each([
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/nothing'],
    ['POST', '/api/v1/nothing/at/all'],
    ['PATCH', '/api/v1/prompts'],
    ['DELETE', '/api/v1/prompts'],
    ['OPTIONS', '/api/v1/prompts'],
    ['GET', '/api/auth/login'],
  ])('%s %s is 404', async (method, path) => {
    const { status, json } = await (await start()).call(method, path)
    expect(status).toBe(404)
    expect(json).toEqual({ message: expect.any(String) })
  })

  test('a method that a path does not have is told those that it has', async () => {
    const { json } = await (await start()).call('PATCH', `/api/v1/prompts/${randomUUID()}`)
    expect(json.message).toMatch(/^There is no PATCH .*\. There is GET, PUT, DELETE\.$/)
  })

  test('an unknown path is 404 before its body is read', async () => {
    expect((await (await start()).call('POST', '/api/v1/nothing', '{broken')).status).toBe(404)
  })

  test.each([
    ['{"name": ', 400, 'application/json'],
    ['', 400, 'application/json'],
    ['null', 400, 'application/json'],
    ['[]', 400, 'application/json; charset=utf-8'],
    ['{"name":"a","content":"b","__proto__":{}}', 400, 'application/json'],
    ['name=x', 415, 'application/x-www-form-urlencoded'],
    ['{}', 415, 'text/plain'],
    [`{"name":"x","content":"${'x'.repeat(10_001)}"}`, 413, 'application/json'],
  ])('the body %.20s is %i as %s', async (body, expected, type) => {
    const answer = await (await start()).call('POST', '/api/v1/prompts', body, { 'content-type': type })
    expect(answer.status).toBe(expected)
    expect(answer.json).toEqual({ message: expect.any(String) })
  })

  test('a body without a media type is 415', async () => {
    const server = await start()
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/prompts`, {
      method: 'POST',
      body: new Uint8Array([123, 125]),
    })
    expect(answer.status).toBe(415)
    expect(await answer.json()).toEqual({ message: expect.any(String) })
  })

  test('a database that cannot be reached is 503 with Retry-After', async () => {
    const away = connect('postgres://nobody@127.0.0.1:1/none', { max: 1, name: 'test', timeoutMs: 0 })
    const server = await start({ sql: away })
    const answer = await server.call('GET', '/api/v1/prompts')
    await away.end({ timeout: 0 })
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json).toEqual({ message: expect.not.stringContaining('127.0.0.1') })
  })

  test('an internal error is 500 without details; the log has the message and the request id', async () => {
    const broken = await freshDatabase({ empty: true })
    const lines: string[] = []
    const server = await start({ sql: broken.sql, log: (line) => lines.push(line) })
    const answer = await server.call('GET', '/api/v1/prompts')
    await broken.drop()
    expect([answer.status, answer.json]).toEqual([500, { message: 'Internal server error.' }])
    const logged = JSON.parse(lines.join(''))
    expect(logged.reqId).toEqual(expect.any(String))
    expect(logged.err.message).toContain('relation "prompts" does not exist')
  })

  test('only messages meant for callers are returned', () => {
    const status = (error: object) => errorAnswer(Object.assign(new Error('inner'), error))
    expect(status({ statusCode: 418 })).toMatchObject({ status: 418, message: expect.not.stringContaining('inner') })
    expect(status({ statusCode: 502 })).toMatchObject({ status: 500, message: 'Internal server error.' })
    expect(status({ code: '42P01' })).toMatchObject({ status: 500 })
    expect(status({ code: '57P01' })).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(errorAnswer('thrown text')).toMatchObject({ status: 500, message: 'Internal server error.' })
    expect(errorAnswer(new postgres.PostgresError('select secrets'))).toMatchObject({ status: 500 })
  })
})

describe('a foreign Origin (contract section 2)', () => {
  const proxied = { trustProxy: '127.0.0.1' }
  const ask = async (
    options: Partial<Options>,
    headers: Record<string, string>,
    method = 'POST',
    path = '/api/v1/prompts',
  ) => {
    const body = method === 'POST' ? { name: 'x', content: 'y' } : undefined
    return (await start(options)).call(method, path, body, headers)
  }

  test.each<[string, Partial<Options>, Record<string, string>]>([
    ['another host', {}, { host: 'localhost:8080', origin: 'http://evil.example' }],
    ['another port', {}, { host: 'localhost:8080', origin: 'http://localhost:9090' }],
    ['the default port instead', {}, { host: 'localhost:8080', origin: 'http://localhost' }],
    ['null', {}, { host: 'localhost:8080', origin: 'null' }],
    ['nonsense', {}, { host: 'localhost:8080', origin: '' }],
    ['another scheme family', {}, { host: 'localhost', origin: 'chrome-extension://localhost' }],
    ['a name that ends alike', {}, { host: 'localhost', origin: 'http://evil-localhost' }],
    ['an untrusted X-Forwarded-Host', {}, { host: 'localhost', origin: 'http://a.com', 'x-forwarded-host': 'a.com' }],
    [
      'HTTP where a trusted proxy tells HTTPS',
      { ...proxied, loopbackOnly: false },
      { host: 'a.com', origin: 'http://a.com', 'x-forwarded-proto': 'https' },
    ],
    [
      'HTTPS where a trusted proxy tells HTTP',
      { ...proxied, loopbackOnly: false },
      { host: 'a.com', origin: 'https://a.com', 'x-forwarded-proto': 'http', 'x-forwarded-for': '192.0.2.1' },
    ],
    [
      'the Host behind a trusted proxy that forwards another',
      { ...proxied, loopbackOnly: false },
      { host: 'inner', origin: 'http://inner', 'x-forwarded-host': 'a.com' },
    ],
  ])('%s is 403 {message}', async (_, options, headers) => {
    const { status, json } = await ask(options, headers)
    expect(status).toBe(403)
    expect(json).toEqual({ message: expect.any(String) })
  })

  test.each<[string, Partial<Options>, Record<string, string>]>([
    ['no Origin', {}, { host: 'localhost:8080' }],
    ['the own one', {}, { host: 'localhost:8080', origin: 'http://localhost:8080' }],
    ['without regard to case', { loopbackOnly: false }, { host: 'A.com', origin: 'http://a.com' }],
    ['the own one, IPv6', {}, { host: '[::1]:8080', origin: 'http://[::1]:8080' }],
    ['the default port left out', {}, { host: 'localhost:80', origin: 'http://localhost' }],
    ['HTTPS where nobody tells the scheme', { loopbackOnly: false }, { host: 'a.com', origin: 'https://a.com' }],
    [
      'HTTPS where an untrusted proxy tells HTTP',
      { loopbackOnly: false },
      { host: 'a.com', origin: 'https://a.com', 'x-forwarded-proto': 'http' },
    ],
    [
      'what a trusted proxy forwards',
      { ...proxied, loopbackOnly: false },
      { host: 'inner:8080', origin: 'https://a.com', 'x-forwarded-host': 'a.com', 'x-forwarded-proto': 'https' },
    ],
  ])('passes: %s', async (_, options, headers) => {
    expect((await ask(options, headers)).status).toBe(201)
  })

  verifies('contract-2.foreign-origin', 'is refused on login, logout, PUT and DELETE, and not on reads', async () => {
    const foreign = { host: 'localhost', origin: 'http://evil.example' }
    const options = { credentials }
    expect((await ask(options, foreign, 'POST', '/api/auth/login')).status).toBe(403)
    expect((await ask(options, foreign, 'POST', '/api/auth/logout')).status).toBe(403)
    expect((await ask({}, foreign, 'PUT', '/api/v1/prompts/x')).status).toBe(403)
    expect((await ask({}, foreign, 'DELETE', '/api/v1/prompts/x')).status).toBe(403)
    expect((await ask({}, foreign, 'GET', '/api/v1/prompts')).status).toBe(200)
  })

  verifies('contract-2.foreign-origin', 'never gets a CORS header', async () => {
    const headers = { host: 'localhost', origin: 'http://localhost', 'access-control-request-method': 'PUT' }
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const answer = await ask({}, headers, method)
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('ALLOWED_HOSTS (contract section 1)', () => {
  const read = async (options: Partial<Options>, headers: Record<string, string>) =>
    (await start(options)).call('GET', '/api/v1/prompts', undefined, headers)

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'x.localhost',
    '1.2.3.4.evil',
    'a@localhost',
  ])('on loopback without credentials, Host %s is 403 naming the setting', async (host) => {
    const { status, json } = await read({}, { host })
    expect(status).toBe(403)
    expect(json.message).toContain('ALLOWED_HOSTS')
  })

  test.each([
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    '127.0.0.1:8080',
    '[::1]:8080',
    '192.168.1.5',
    'my.box:80',
  ])('Host %s may be asked for', async (host) => {
    expect((await read({ allowedHosts: ['My.box'] }, { host })).status).toBe(200)
  })

  test('the rule does not apply when a login is needed or the server listens beyond loopback', async () => {
    expect((await read({ credentials }, { host: 'evil.example' })).status).toBe(401)
    expect((await read({ loopbackOnly: false }, { host: 'evil.example' })).status).toBe(200)
  })

  test('a trusted proxy does not hide the Host that a page cannot choose', async () => {
    const options = { trustProxy: '127.0.0.1', allowedHosts: ['a.com'] }
    expect((await read(options, { host: 'evil.example', 'x-forwarded-host': 'localhost' })).status).toBe(403)
    expect((await read(options, { host: '127.0.0.1', 'x-forwarded-host': 'evil.example' })).status).toBe(403)
    expect((await read(options, { host: '127.0.0.1', 'x-forwarded-host': 'a.com' })).status).toBe(200)
  })

  test('it applies to any scope', async () => {
    const app = Fastify()
    const refuse = refuseForeignHosts({ allowedHosts: [], loopbackOnly: true, needsCredential: false })
    app.addHook('onRequest', async (request) => refuse(request))
    app.get('/', () => 'in')
    expect((await app.inject({ url: '/', headers: { host: 'evil.example' } })).statusCode).toBe(403)
    expect((await app.inject({ url: '/', headers: { host: 'localhost' } })).statusCode).toBe(200)
    await app.close()
  })
})
