/** Contract sections 18 and 26: what a body may hold, how large it may be without a credential, and which always passes. */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, expect } from 'vitest'
import { registerJson } from '../../../src/http/server/body.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const open = await openScene()
const guarded = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word', PUBLIC_API_KEY: 'deploy-key' } })
afterAll(() => Promise.all([open.close(), guarded.close()]))

/** JSON of so many bytes. */
const sized = (bytes: number, start = '{"x":"', end = '"}'): string =>
  `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`
const KIB = 1024

verifies('contract-18.open-bodies', 'login and logout take 16 KiB, also where no login is set up', async () => {
  for (const scene of [open, guarded]) {
    for (const path of ['/api/auth/login', '/api/auth/logout']) {
      const fits = await scene.call('POST', path, sized(16 * KIB))
      expect([path, fits.status]).toEqual([path, path.endsWith('login') ? 400 : 204])
      const large = await scene.call('POST', path, sized(16 * KIB + 1))
      expect([large.status, large.json]).toEqual([413, { message: expect.stringContaining('16 KiB') }])
    }
  }
})

/** Sends headers and part of a body that never ends; the answer, and whether the server asked for more. */
function begin(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const outgoing = request(url, { method: 'POST', agent: false, headers }, (response) => {
    text(response)
      .then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
      .finally(() => outgoing.destroy())
  })
  outgoing.on('error', reject)
  outgoing.write('{"x":"')
  return promise
}

verifies(
  'contract-18.open-bodies',
  'without a credential a request is refused before its body has arrived',
  async () => {
    const headers = { 'content-type': 'application/json' }
    for (const path of ['/api/v1/prompts', '/api/v1/import', `${guarded.sessions}`, '/api/v1/unknown']) {
      const { status, body } = await begin(`${guarded.app.url}${path}`, headers)
      expect([path, status]).toEqual([path, 401])
      expect(JSON.parse(body)).toBeTruthy()
    }
    for (const path of ['/nothing', '/livez', '/api/v1/unknown', '/api/v1/agents/x/deploy/unknown']) {
      const { status } = await begin(`${open.app.url}${path}`, headers)
      expect([path, status]).toEqual([path, 404])
    }
  },
)

verifies(
  'contract-18.arrival',
  'the rest of a body that was refused is waited for in vain for some seconds, then its connection ends',
  async () => {
    const { hostname, port } = new URL(guarded.app.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write('POST /api/v1/prompts HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n')
    socket.write('content-length: 1000\r\n\r\n{"x":"')
    const closed = once(socket, 'close')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 401 /)
    await closed
  },
)

const array = (values: number): string => `[${'0,'.repeat(values - 2)}0]`
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const title = (more: string): string => `{"title":"t","x":${more}}`

verifies('contract-18.json-size', '100,000 values and 200 levels are taken, no more', async () => {
  // The object and its title are two.
  // One that is within the limits is read, and refused for its unknown field alone.
  for (const [what, body, why] of [
    ['100,000 values', title(array(99_998)), /\bx\b/],
    ['100,001 values', title(array(99_999)), /values|nested/],
    ['as empty containers', title(`[${'{},[],'.repeat(50_000)}0]`), /values|nested/],
    ['as keys', title(`{${Array.from({ length: 99_998 }, (_, i) => `"${i}":0`)}}`), /values|nested/],
    ['100,000 commas in a string', title(`"${'[,{\\",'.repeat(100_000)}"`), /\bx\b/],
    ['200 levels', title(nested(199)), /\bx\b/],
    ['201 levels', title(nested(200)), /values|nested/],
    ['a million brackets in a string', title(`"${'['.repeat(1_000_000)}"`), /\bx\b/],
  ] as const) {
    const answer = await open.call('POST', open.sessions, body)
    expect([what, answer.json]).toEqual([what, refusedRequest(why)])
  }
  const refused = await open.call('POST', '/api/v1/prompts', `{"name":"n","content":"c","x":${array(100_000)}}`)
  expect([refused.status, refused.json]).toEqual([400, { message: 'body: must not hold more than 100000 values' }])
})

verifies('contract-18.import', 'imports hold 1 MiB at most, JSON and YAML', async () => {
  const importOf = (bytes: number) => sized(bytes, '{"version":1,"prompts":[{"name":"p","content":"', '"}]}')
  for (const type of ['application/json', 'application/yaml']) {
    const headers = { 'content-type': type }
    const fits = await open.call('POST', '/api/v1/import', importOf(1024 * KIB), headers)
    expect([type, fits.status]).toEqual([type, 200])
    const large = await open.call('POST', '/api/v1/import', importOf(1024 * KIB + 1), headers)
    expect([large.status, large.json]).toEqual([413, { message: expect.stringContaining('1 MiB') }])
  }
})

verifies(
  ['contract-2.errors', 'spec-7.1.errors'],
  'a compressed body is 415, and says which header is meant',
  async () => {
    const packed = gzipSync('{"title":"t"}')
    for (const [path, key] of [
      [open.sessions, 'error'],
      ['/api/v1/prompts', 'message'],
      ['/api/v1/import', 'message'],
    ] as const) {
      for (const encoding of ['gzip', 'GZIP', 'br', 'gzip, identity']) {
        const answer = await open.call('POST', path, packed, { 'content-encoding': encoding })
        expect([answer.status, answer.json]).toEqual([415, { [key]: expect.stringContaining('Content-Encoding') }])
        expect(answer.headers.get('accept-encoding')).toBe('identity')
      }
      const plain = await open.call('POST', path, '{}', { 'content-encoding': 'identity' })
      expect(plain.status).not.toBe(415)
    }
  },
)

verifies(
  'contract-26.shares',
  '16 KiB pass in pieces of any size while the share is full, one byte more does not',
  async () => {
    await using app = Fastify()
    registerJson(app, 'deploy')
    app.post('/taken', async () => ({ taken: true }))
    app.post('/fill', async (request) => {
      const account = app.accountOf(request)
      return { filled: account.hold(account.mostBytes) }
    })
    expect((await app.inject({ method: 'POST', url: '/fill' })).json()).toEqual({ filled: true })
    const sentIn = async (bytes: number, piece: number) => {
      const body = Buffer.from(sized(bytes))
      const pieces = Array.from({ length: Math.ceil(bytes / piece) }, (_, at) =>
        body.subarray(at * piece, (at + 1) * piece),
      )
      const headers = { 'content-type': 'application/json' }
      return (await app.inject({ method: 'POST', url: '/taken', headers, payload: Readable.from(pieces) })).statusCode
    }
    for (const piece of [20_000, 9000, 3300, 100]) {
      expect([piece, await sentIn(16 * KIB, piece), await sentIn(16 * KIB + 1, piece)]).toEqual([piece, 200, 503])
    }
  },
)
