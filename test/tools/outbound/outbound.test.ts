/** The outbound rule of contract section 6, over real sockets: refused calls never reach the server. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { outboundRule } from '../../../src/settings-values.ts'
import { refusalOf } from '../../../src/tools/outbound/address-rules.ts'
import { createOutbound, type OutboundInit, type OutboundOptions } from '../../../src/tools/outbound/outbound.ts'
import { OutboundError } from '../../../src/tools/outbound/outbound-error.ts'
import { verifies } from '../../verifies.ts'
import { scriptedLookup, startWebServer } from '../web-server.ts'

const signal = new AbortController().signal
const byModel: OutboundInit = { chosenBy: 'model', signal }
const byAdmin: OutboundInit = { chosenBy: 'admin', signal }

const open = (options: Partial<OutboundOptions> = {}) => createOutbound({ policy: 'standard', allow: [], ...options })

/** `ok`, or the error's code and those of its causes. */
async function outcome(call: Promise<{ status: number; text(): Promise<string> }>): Promise<string> {
  try {
    return await (await call).text()
  } catch (error) {
    const codes: string[] = []
    for (let at: unknown = error; at instanceof Error; at = at.cause) if ('code' in at) codes.push(String(at.code))
    return codes[0] ?? String(error)
  }
}

const alwaysRefused = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.1',
  '2852039166', // 169.254.169.254
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.254.169.254.',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fe80::1]',
  '[febf::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::a9fe:a9fe]',
  '[::ffff:0:169.254.169.254]',
  '[2002:a9fe:a9fe::1]',
  '[::ffff:100.100.100.200]',
]

const refusedToModels = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '127.0.0.1.', '127.255.255.254'],
  ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '192.0.0.1'],
  ...['192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...[
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::10.0.0.1]',
  ],
  ...['[2002:7f00:1::]', '[2002:c0a8:101::1]', '[fc00::1]', '[fd12:3456::1]', '[fec0::1]', '[ff02::1]', '[100::1]'],
  ...['[2001:db8::1]', '[2001::1]', '[3fff::1]', '[4000::1]', '[5f00::1]', '１２７.０.０.１', '①②⑦.0.0.1'],
]

verifies('contract-6.outbound', 'link-local and metadata addresses are refused whoever chose them', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'), '::')
  await using outbound = open()
  for (const host of alwaysRefused) {
    const url = `http://${host}:${server.port}/`
    expect([host, await outcome(outbound.fetch(url, byAdmin))]).toEqual([host, 'OUTBOUND_REFUSED'])
    expect([host, await outcome(outbound.fetch(url, byModel))]).toEqual([host, 'OUTBOUND_REFUSED'])
  }
  expect(server.connections.opened).toBe(0)
})

verifies('contract-6.outbound', 'a model chooses public addresses only', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'), '::')
  await using outbound = open()
  for (const host of refusedToModels) {
    const url = `http://${host}:${server.port}/`
    expect([host, await outcome(outbound.fetch(url, byModel))]).toEqual([host, 'OUTBOUND_REFUSED'])
  }
  expect(await outcome(outbound.fetch(`http://localhost:${server.port}/`, byModel))).toBe('OUTBOUND_REFUSED')
  expect(server.connections.opened).toBe(0)
})

verifies('contract-6.outbound', 'with the strict policy an administrator chooses public addresses only', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'), '::')
  await using outbound = open({ policy: 'strict' })
  for (const host of refusedToModels) {
    const url = `http://${host}:${server.port}/`
    expect([host, await outcome(outbound.fetch(url, byAdmin))]).toEqual([host, 'OUTBOUND_REFUSED'])
  }
  expect(server.connections.opened).toBe(0)
})

const passing = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '127.8.9.10', '0.0.0.0'],
  ...['[::1]', '[::ffff:127.0.0.1]', 'localhost', 'LOCALHOST', 'localhost.', 'internal.test', 'two.test'],
]

verifies('contract-6.outbound', 'an administrator chooses any other address', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'), '::')
  const local = [['::1', '127.0.0.1']]
  const { lookup } = scriptedLookup({
    localhost: local,
    'localhost.': local,
    'internal.test': ['127.0.0.1'],
    'two.test': [['169.254.169.254', '127.0.0.1']], // only the allowed ones of several addresses are tried
  })
  await using outbound = open({ lookup })
  for (const host of passing) {
    const url = `http://${host}:${server.port}/`
    expect([host, await outcome(outbound.fetch(url, byAdmin))]).toEqual([host, 'ok'])
  }
})

const publicAddresses = [
  ...['1.1.1.1', '8.8.8.8', '93.184.216.34', '172.15.0.1', '172.32.0.1', '100.63.255.255', '100.128.0.1', '192.0.1.1'],
  ...['169.253.0.1', '198.20.0.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8'],
  ...['64:ff9b::8.8.8.8', '2002:808:808::1'],
]

describe('checked without a connection', () => {
  test.each(publicAddresses)('contract section 6: %s is public, a model may choose it', (address) => {
    const target = { host: 'public.test', port: 443, address }
    expect(refusalOf(target, 'model', { policy: 'strict', allow: [] })).toBeNull()
  })

  test('invalid addresses and zones are handled', () => {
    const rules = { policy: 'standard', allow: [] } as const
    const of = (address: string) => refusalOf({ host: 'x.test', port: 80, address }, 'admin', rules)
    expect(of('fe80::1%eth0')).toMatch(/link-local/)
    expect(of('nonsense')).toMatch(/no address/)
    expect(of('0xa9fea9fe')).toMatch(/no address/)
  })
})

const allowing = (...values: string[]) => values.map((value) => outboundRule(value))

verifies('contract-6.outbound', 'OUTBOUND_ALLOW opens hosts, host:port and ranges, and nothing else', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'), '::')
  await using other = await startWebServer((_, response) => response.end('other'), '::')
  const { port } = server
  const { lookup } = scriptedLookup({ 'api.internal': ['127.0.0.5'], 'x.internal': ['127.0.0.6'] })
  const cases: [allow: string, host: string, port: number, expected: string][] = [
    ['api.internal', 'api.internal', port, 'ok'],
    ['api.internal', 'API.internal', port, 'ok'],
    ['api.internal', 'x.internal', port, 'OUTBOUND_REFUSED'],
    ['api.internal', '127.0.0.5', port, 'OUTBOUND_REFUSED'],
    [`api.internal:${port}`, 'api.internal', port, 'ok'],
    [`api.internal:${port}`, 'api.internal', other.port, 'OUTBOUND_REFUSED'],
    ['127.0.0.6', 'x.internal', port, 'ok'],
    ['127.0.0.6', 'api.internal', port, 'OUTBOUND_REFUSED'],
    [`127.0.0.6:${port}`, '127.0.0.6', port, 'ok'],
    [`127.0.0.6:${port}`, '127.0.0.6', other.port, 'OUTBOUND_REFUSED'],
    [`[::1]:${port}`, '[::1]', port, 'ok'],
    ['127.0.0.4/31', 'api.internal', port, 'ok'],
    ['127.0.0.4/31', 'x.internal', port, 'OUTBOUND_REFUSED'],
    ['127.0.0.4/31', '[::ffff:127.0.0.5]', port, 'ok'],
    ['::1/128', '[::1]', port, 'ok'],
    ['::ffff:127.0.0.0/104', '127.0.0.1', port, 'ok'],
    ['64:ff9b::/96', '127.0.0.1', port, 'OUTBOUND_REFUSED'],
    ['0.0.0.0/0', '127.0.0.1', port, 'ok'],
    ['0.0.0.0/0', '[::1]', port, 'OUTBOUND_REFUSED'],
  ]
  for (const [allow, host, at, expected] of cases) {
    await using outbound = open({ policy: 'strict', allow: allowing(allow), lookup })
    for (const chosenBy of ['model', 'admin'] as const) {
      const said = await outcome(outbound.fetch(`http://${host}:${at}/`, { chosenBy, signal }))
      expect([allow, host, chosenBy, said]).toEqual([allow, host, chosenBy, expected])
    }
  }
})

verifies('contract-6.outbound', 'a metadata address is opened only explicitly, never by a name or a wide range', () => {
  const judge = (allow: string, address: string) =>
    refusalOf({ host: 'api.internal', port: 80, address }, 'admin', { policy: 'standard', allow: allowing(allow) })
  for (const allow of ['api.internal', '0.0.0.0/0', '169.0.0.0/8', 'api.internal:80']) {
    expect(judge(allow, '169.254.169.254')).toMatch(/metadata/)
  }
  expect(judge('::/0', 'fd00:ec2::254')).toMatch(/metadata/)
  expect(judge('169.254.170.2', '169.254.170.2')).toBeNull()
  expect(judge('169.254.170.2', '169.254.169.254')).toMatch(/metadata/)
  expect(judge('fe80::/64', 'fe80::7')).toBeNull()
})

verifies('contract-6.outbound', 'a name that would resolve differently the second time is resolved once', async () => {
  await using server = await startWebServer((_, response) => response.end('ok'))
  const rebinding = scriptedLookup({ 'rebind.test': ['127.0.0.1', '169.254.169.254'] })
  await using outbound = open({ lookup: rebinding.lookup })
  const url = `http://rebind.test:${server.port}/`
  expect(await outcome(outbound.fetch(url, byAdmin))).toBe('ok')
  expect(rebinding.asked).toEqual(['rebind.test'])

  // Public when checked, loopback when resolved again: the connection goes to the checked address.
  const other = scriptedLookup({ 'rebind.test': ['192.0.2.7', '127.0.0.1'] })
  await using strict = open({ lookup: other.lookup, allow: allowing('192.0.2.7') })
  const timeout = AbortSignal.timeout(300)
  expect(await outcome(strict.fetch(url, { chosenBy: 'model', signal: timeout }))).not.toBe('ok')
  expect(other.asked).toEqual(['rebind.test'])
  expect(server.requests).toHaveLength(1)
})

verifies('contract-6.outbound', 'of several addresses only allowed ones are connected to', async () => {
  await using server = await startWebServer(({ socket }, response) => response.end(socket.localAddress), '0.0.0.0')
  const { lookup } = scriptedLookup({ 'mixed.test': [['127.0.0.1', '10.0.0.1', '127.0.0.5', '127.0.0.2']] })
  await using outbound = open({ lookup, allow: allowing('127.0.0.5') })
  expect(await outcome(outbound.fetch(`http://mixed.test:${server.port}/`, byModel))).toBe('127.0.0.5')
})

verifies('contract-6.outbound', 'a new connection is checked again', async () => {
  await using server = await startWebServer((_, response) => response.setHeader('connection', 'close').end('ok'))
  const { lookup, asked } = scriptedLookup({ 'rebind.test': ['127.0.0.1', '10.0.0.1', '169.254.169.254'] })
  await using outbound = open({ lookup, allow: allowing('127.0.0.1') })
  const url = `http://rebind.test:${server.port}/`
  expect(await outcome(outbound.fetch(url, byModel))).toBe('ok')
  expect(await outcome(outbound.fetch(url, byModel))).toBe('OUTBOUND_REFUSED')
  expect(await outcome(outbound.fetch(url, byAdmin))).toBe('OUTBOUND_REFUSED')
  expect(asked).toHaveLength(3)
})

verifies('contract-6.outbound', "an administrator's kept-alive connection is not reused for a model", async () => {
  await using server = await startWebServer((_, response) => response.end('ok'))
  await using outbound = open()
  expect(await outcome(outbound.fetch(server.url, byAdmin))).toBe('ok')
  expect(await outcome(outbound.fetch(server.url, byModel))).toBe('OUTBOUND_REFUSED')
  expect(await outcome(outbound.fetch(server.url, byAdmin))).toBe('ok')
  expect(server.requests).toHaveLength(2)
})

test.each([
  ['file:///etc/passwd'],
  ['data:text/plain,hello'],
  ['blob:http://x/1'],
  ['ftp://example.test/'],
  ['http://user:secret@example.test/'],
  ['//example.test/'],
  ['nonsense'],
  ['http://1.2.3.256/'],
  ['http://127.0.0.1:6000/'], // a port that fetch never calls
])('contract section 6: %s is no address to call', async (url) => {
  await using outbound = open()
  await expect(outbound.fetch(url, byAdmin)).rejects.toThrow(OutboundError)
})

test('an abort closes the socket and rejects with its reason', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  await using outbound = open()
  const stop = new AbortController()
  const connected = once(server, 'connection')
  const call = outbound.fetch(`http://127.0.0.1:${address.port}/`, { chosenBy: 'admin', signal: stop.signal })
  const [socket] = await connected
  const closed = once(socket.resume(), 'close')
  stop.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
  await closed
  server.close()
})

test('a resolver that never answers does not delay an abort', async () => {
  await using outbound = open({ lookup: () => new Promise(() => {}) })
  const stop = new AbortController()
  const calls = Array.from({ length: 5 }, (_, i) =>
    outbound.fetch(`http://n${i}.test/`, { chosenBy: 'model', signal: stop.signal }),
  )
  stop.abort(new Error('enough'))
  for (const call of calls) await expect(call).rejects.toThrow('enough')
})

verifies('contract-25.response-headers', '64 KiB are read, more are an error', async () => {
  const server = createHttpServer({ maxHeaderSize: 2 ** 18 }, (request, response) => {
    response.setHeader('x-trace', 'x'.repeat(Number(request.url?.slice(1)))).end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address instanceof Object ? address.port : 0
  const outbound = open()
  const read = (bytes: number) => outcome(outbound.fetch(`http://127.0.0.1:${port}/${bytes}`, byAdmin))
  expect(await read(65_000)).toBe('ok')
  expect(await read(70_000)).toBe('UND_ERR_HEADERS_OVERFLOW')
  server.close()
  server.closeAllConnections()
})
