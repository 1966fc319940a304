/** MCP servers of both eras and transports, from the official SDKs (contract section 6). */
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMcp, type Mcp, type McpServer, type McpTimes } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound, type Outbound } from '../../../src/tools/outbound/outbound.ts'
import { type ServerKind, serverKinds, startMcpServer, type TestMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'

const never = new AbortController().signal
const known = ['echo', 'wait', 'crash', 'fail', 'mixed', 'big', 'huge']
const MAYBE = 'The call may have been carried out; it is not repeated.'

let outbound: Outbound
let mcp: Mcp
let lines: [object, string][]

const open = (times: Partial<McpTimes> = {}): Mcp =>
  createMcp({ outbound, times, log: { warn: (details, message) => void lines.push([details, message]) } })

beforeEach(() => {
  lines = []
  outbound = createOutbound({ policy: 'standard', allow: [] })
  mcp = open()
})

afterEach(async () => {
  await mcp[Symbol.asyncDispose]()
  await outbound[Symbol.asyncDispose]()
})

const record = (kind: ServerKind, url: string, changes: Partial<McpServer> = {}): McpServer => ({
  id: 'a',
  name: 'Test',
  version: '1',
  url,
  headers: { authorization: 'Bearer s3cret', 'x-team': 'blue' },
  transport: kind.startsWith('sse') ? 'sse' : 'streamable_http',
  ...changes,
})

const names = async (server: McpServer) => (await mcp.tools(server, never)).map(({ name }) => name)

/** Requests that establish a connection. */
const handshakes = ({ requests }: TestMcpServer) =>
  requests.filter(({ rpc }) => rpc === 'initialize' || rpc === 'server/discover').length

describe.each(serverKinds)('%s', (kind) => {
  let host: TestMcpServer
  let server: McpServer

  beforeEach(async () => {
    host = await startMcpServer(kind)
    server = record(kind, host.url)
    return () => host[Symbol.asyncDispose]()
  })

  verifies('contract-6.mcp', 'lists and calls, with one handshake for all replies', async () => {
    expect(await mcp.tools(server, never)).toContainEqual({
      name: 'echo',
      description: 'Says it again.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
    const before = handshakes(host)
    for (const text of ['one', 'two', 'three']) {
      expect(await names(server)).toEqual(known)
      expect(await mcp.call(server, 'echo', { text }, never)).toEqual({ ok: true, content: text })
    }
    expect(handshakes(host)).toBe(before)
    expect(host.requests.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(1)
  })

  verifies('contract-6.mcp', 'sends the configured headers with every request', async () => {
    await names(server)
    await mcp.call(server, 'echo', { text: 'x' }, never)
    await mcp[Symbol.asyncDispose]()
    expect(host.requests.length).toBeGreaterThan(2)
    for (const { headers } of host.requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-team': 'blue' })
    }
  })

  verifies(
    'contract-6.mcp',
    'flattens results: texts, notes for images, structured content; an error is not ok',
    async () => {
      expect(await mcp.call(server, 'fail', {}, never)).toEqual({ ok: false, content: 'It did not work.' })
      expect(await mcp.call(server, 'mixed', {}, never)).toEqual({
        ok: true,
        content: 'See:\n[image: image/png, 300 bytes, not shown]\n{"answer":42}',
      })
    },
  )

  verifies(
    'contract-6.mcp',
    'cuts results at 256 KiB, at a character boundary, and gives up on a response of many megabytes',
    async () => {
      const { content } = await mcp.call(server, 'big', {}, never)
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(256 * 1024)
      expect(content).toMatch(/^ü+\n\[cut at 256 KiB\]$/)
      const huge = await mcp.call(server, 'huge', {}, never)
      expect(huge.ok).toBe(false)
      expect(huge.content).toContain(MAYBE)
      expect(await mcp.call(server, 'echo', { text: 'still here' }, never)).toEqual({ ok: true, content: 'still here' })
    },
  )

  verifies('contract-6.mcp', 'a list change is received, and the next reply sees it', async () => {
    expect(await names(server)).toEqual(known)
    if (kind === 'streamable_http, old era') {
      await expect.poll(() => host.requests.some(({ method }) => method === 'GET')).toBe(true)
    }
    const changed = async () => {
      host.change() // until the server has its notification stream
      return await names(server)
    }
    await expect.poll(changed).toEqual([...known, 'later'])
  })

  verifies('contract-6.mcp', 'after a server restart calls and lists work again, on a new connection', async () => {
    await names(server)
    const { port } = host
    await host[Symbol.asyncDispose]()
    const again = await startMcpServer(kind, port)
    const together = ['one', 'two'].map((text) => mcp.call(server, 'echo', { text }, never))
    expect(await Promise.all(together)).toEqual([
      { ok: true, content: 'one' },
      { ok: true, content: 'two' },
    ])
    expect(again.calls).toEqual(['echo', 'echo'])
    expect(again.requests.filter(({ rpc }) => rpc === 'initialize').length).toBeLessThanOrEqual(1)
    await again[Symbol.asyncDispose]()
    await using third = await startMcpServer(kind, port)
    third.change()
    await expect.poll(async () => (await mcp.call(server, 'later', { text: 'x' }, never)).ok).toBe(true)
    await expect.poll(() => names(server)).toContain('later')
  })

  verifies('contract-6.mcp', 'a call whose connection breaks is not retried, and the model is told so', async () => {
    await names(server)
    const { ok, content } = await mcp.call(server, 'crash', {}, never)
    expect(ok).toBe(false)
    expect(content).toContain(MAYBE)
    expect(host.calls).toEqual(['crash'])
    expect(await mcp.call(server, 'echo', { text: 'x' }, never)).toEqual({ ok: true, content: 'x' })
  })

  verifies('contract-6.mcp', 'an abort reaches the server and closes the call’s socket', async () => {
    await names(server)
    const stop = new AbortController()
    const call = mcp.call(server, 'wait', {}, stop.signal)
    await expect.poll(() => host.calls).toEqual(['wait'])
    stop.abort(new Error('cancelled by the user'))
    await expect(call).rejects.toThrow('cancelled by the user')
    await expect.poll(() => host.cancelled).toEqual(['wait'])
    const socket = host.requests.find(({ rpc }) => rpc === 'tools/call')
    if (!kind.startsWith('sse')) await expect.poll(() => socket?.aborted).toBe(true)
    expect(await mcp.call(server, 'echo', { text: 'x' }, never)).toEqual({ ok: true, content: 'x' })
  })

  verifies('contract-6.mcp', 'a call without a timely response is cancelled, on the server too', async () => {
    await using hasty = open({ call: 300 })
    await hasty.tools(server, never) // the handshake is no part of the call
    const { ok, content } = await hasty.call(server, 'wait', {}, never)
    expect([ok, content]).toEqual([false, `No answer within 0.3 s. ${MAYBE}`])
    await expect.poll(() => host.cancelled).toEqual(['wait'])
  })

  verifies(
    'contract-6.mcp',
    'a new version of the record gets a new connection; the old one finishes what is under way',
    async () => {
      await names(server)
      const stop = new AbortController()
      const call = mcp.call(server, 'wait', {}, stop.signal)
      await expect.poll(() => host.calls).toEqual(['wait'])
      mcp.forget('a')
      const changed = { ...server, version: '2', headers: { authorization: 'Bearer new' } }
      expect(await mcp.call(changed, 'echo', { text: 'x' }, never)).toEqual({ ok: true, content: 'x' })
      expect(host.requests.at(-1)?.headers.authorization).toBe('Bearer new')
      expect(host.cancelled).toEqual([])
      stop.abort()
      await expect(call).rejects.toThrow()
    },
  )

  verifies('contract-6.mcp', 'an unused connection is closed after a while', async () => {
    await using brief = open({ idle: 50 })
    await brief.tools(server, never)
    const before = handshakes(host)
    const ended = () => host.requests.some(({ method, aborted }) => method === 'DELETE' || aborted)
    await expect.poll(ended).toBe(true)
    expect((await brief.call(server, 'echo', { text: 'x' }, never)).ok).toBe(true)
    expect(handshakes(host)).toBeGreaterThan(before)
  })
})

describe('dead servers', () => {
  test.each(['streamable_http, old era', 'sse, old era'] as const)('refused: %s', async (kind) => {
    const gone = await startMcpServer(kind)
    await gone[Symbol.asyncDispose]()
    const server = record(kind, gone.url)
    await expect(mcp.tools(server, never)).rejects.toThrow('The call failed: connection refused.')
    expect(await mcp.call(server, 'echo', {}, never)).toEqual({
      ok: false,
      content: 'The call failed: connection refused.',
    })
  })

  test.each(['streamable_http, old era', 'sse, old era'] as const)('never answering: %s', async (kind) => {
    const sockets: NodeJS.ReadableStream[] = []
    const silent = createTcpServer((socket) => void sockets.push(socket.on('error', () => {})))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : 0
    const server = record(kind, `http://127.0.0.1:${port}/mcp`)
    await using hasty = open({ connect: 300, call: 300 })
    await expect(hasty.tools(server, AbortSignal.timeout(30))).rejects.toThrow('timeout')
    await expect(hasty.tools(server, never)).rejects.toThrow('The MCP server does not answer.')
    expect(await hasty.call(server, 'echo', {}, never)).toEqual({ ok: false, content: 'No answer within 0.3 s.' })
    silent.close()
  })

  test('a forbidden address is refused without a call', async () => {
    const server = record('streamable_http, new era', 'http://169.254.169.254/mcp')
    await expect(mcp.tools(server, never)).rejects.toThrow(/not allowed/)
  })
})
