/** Contract section 13: pictures at https addresses. */
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { certificate } from '../../../support/programs/certificate.ts'
import { verifies } from '../../../verifies.ts'
import { dataUrl, image, png, pngOf, text } from './parts-scene.ts'

const folder = await temporaryFolder()
const cert = await readFile(certificate(folder), 'utf8')
setDefaultCACertificates([...getCACertificates('default'), cert])

let listener: RequestListener = (_, response) => void response.end(png())
let requests: string[] = []
const key = await readFile(join(folder, 'key.pem'))
async function listen() {
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(request.url ?? '')
    listener(request, response)
  })
  server.listen(0)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}
const [{ server, port }, closed] = [await listen(), await listen()]
const at = (path: string, host = `127.0.0.1:${port}`) => ({
  type: 'image_url',
  image_url: { url: `https://${host}${path}` },
})

const scene = await openScene({ settings: { OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
scene.says(['ok'])
afterAll(async () => {
  await scene.close()
  for (const one of [server, closed.server]) {
    one.closeAllConnections()
    one.close()
  }
  await rm(folder, { recursive: true })
})

const completions = (id: string) => `${scene.sessions}/${id}/chat/completions`
const send = (id: string, content: object[], extra: object = {}, headers: Record<string, string> = {}) =>
  scene.call('POST', completions(id), { messages: [{ role: 'user', content }], ...extra }, headers)
const serve = (next: RequestListener) => {
  requests = []
  listener = next
}

verifies('contract-13.part-addresses', 'it is fetched once and stored; the provider gets the bytes', async () => {
  serve((_, response) => void response.setHeader('content-type', 'text/html').end(png()))
  const id = await scene.newSession()
  expect((await send(id, [text('a'), at('/a.png'), at('/a.png')])).status).toBe(200)
  expect((await send(id, [text('b')])).status).toBe(200)
  const picture = { type: 'image_url', image_url: { url: dataUrl('image/png', png()) } }
  expect(scene.up.calls.at(-1)?.body.messages[0].content).toEqual([text('a'), picture, picture])
  expect((await scene.messages(id))[0].parts[0]).toMatchObject({ media_type: 'image/png', size: png().length })
  expect((await scene.stateless([{ role: 'user', content: [at('/b.png')] }])).status).toBe(200)
  expect(requests).toEqual(['/a.png', '/b.png'])
})

verifies(
  ['contract-13.part-addresses', 'contract-13.part-identity'],
  'joins and busy sessions come first',
  async () => {
    serve((_, response) => void response.end(png()))
    const id = await scene.newSession()
    const key = { 'idempotency-key': 'k' }
    const first = await send(id, [at('/a.png')], {}, key)
    serve((_, response) => void response.writeHead(404).end())
    expect((await send(id, [at('/a.png')], {}, key)).json.id).toBe(first.json.id)
    expect((await send(id, [at('/b.png')], {}, key)).status).toBe(400)
    const next = scene.byHand()
    const running = scene.stream(id, 'go')
    const up = await next
    expect((await send(id, [at('/b.png')])).status).toBe(409)
    expect(requests).toEqual([])
    // Before `on_busy`: a picture that cannot be had interrupts nothing.
    expect((await send(id, [at('/b.png')], { on_busy: 'interrupt' })).status).toBe(400)
    expect([requests, (await scene.messages(id)).at(-1).status]).toEqual([['/b.png'], 'streaming'])
    await up.finish()
    await (await running).rest()
    scene.says(['ok'])
  },
)

verifies(
  'contract-26.picture-addresses',
  'inner hosts, names without an address and closed ports read alike',
  async () => {
    const id = await scene.newSession()
    closed.server.close()
    const hosts = ['10.0.0.1', '169.254.169.254', 'localhost', 'no-such-host.invalid', `127.0.0.1:${closed.port}`]
    const said = await Promise.all(hosts.map(async (host) => (await send(id, [at('/x', host)])).json.error.message))
    expect(new Set(said).size).toBe(1)
    expect(said[0]).toContain('cannot be fetched')
  },
)

const bomb = gzipSync(Buffer.alloc(21 * 2 ** 20))

verifies('contract-13.part-addresses', 'what cannot be had is 400, and nothing is stored', async () => {
  const id = await scene.newSession()
  const faults: [string, RequestListener, number?][] = [
    ['404', (_, response) => void response.writeHead(404).end(png())],
    ['no picture', (_, response) => void response.end('<html>')],
    ['SVG', (_, response) => void response.end('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    [
      'broken off',
      (_, response) => void response.writeHead(200, { 'content-length': '1000' }).write('x', () => response.destroy()),
    ],
    ['to http', (_, response) => void response.writeHead(302, { location: `http://127.0.0.1:${port}/x` }).end()],
    [
      'to a password',
      (_, response) => void response.writeHead(302, { location: `https://u:p@127.0.0.1:${port}/x` }).end(),
    ],
    ['to metadata', (_, response) => void response.writeHead(302, { location: 'https://169.254.169.254/x' }).end()],
    ['in circles', (_, response) => void response.writeHead(302, { location: '/x' }).end()],
    ['too large', (_, response) => void response.end(Buffer.alloc(21 * 2 ** 20)), 413],
    ['a bomb', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), 413],
  ]
  for (const [name, answer, status = 400] of faults) {
    serve(answer)
    const refused = await send(id, [text('a'), image(), at('/x')])
    const param = status === 400 ? refused.json.error.param : undefined
    expect([name, refused.status, param]).toEqual([
      name,
      status,
      status === 400 ? 'messages.0.content.2.image_url.url' : undefined,
    ])
    expect([name, requests.length <= 6]).toEqual([name, true])
  }
  expect(await scene.messages(id)).toEqual([])
  const [row] = await scene.app
    .sql`select count(*)::integer as n from part_contents where size < 1000 and sha256 not in (select stored_as from message_parts)`
  expect(row).toEqual({ n: 0 })
})

verifies('contract-13.part-addresses', 'five redirects are followed', async () => {
  serve(({ url = '' }, response) => {
    const left = Number(url.slice(1))
    if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end()
    else response.end(pngOf(1000))
  })
  expect((await scene.stateless([{ role: 'user', content: [at('/5')] }])).status).toBe(200)
  expect((await scene.stateless([{ role: 'user', content: [at('/6')] }])).status).toBe(400)
})

verifies('contract-13.part-addresses', 'addresses that callers choose are public ones', async () => {
  serve((_, response) => void response.end(png()))
  const hosts = [
    ...[
      'localhost',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '[::]',
    ],
    ...['10.0.0.1', '192.168.1.1', '172.16.0.1', '100.64.0.1', '169.254.169.254', '[fd00:ec2::254]', '100.100.100.200'],
    ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '１２７.０.０.１', 'metadata.google.internal'],
  ]
  const id = await scene.newSession()
  for (const host of hosts) {
    const answer = await send(id, [at('/', `${host}:${closed.port}`)])
    expect([host, answer.status]).toEqual([host, 400])
  }
  expect(requests).toEqual([])
})
