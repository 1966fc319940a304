/** HTTP tools against well-behaved and misbehaving servers (contract section 6). */
import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect } from 'vitest'
import { callHttpTool, type HttpTool } from '../../../src/tools/http-tools/http-tool.ts'
import { createOutbound, type OutboundRule } from '../../../src/tools/outbound/outbound.ts'
import { verifies } from '../../verifies.ts'
import { startWebServer, type WebServer } from '../web-server.ts'

const signal = new AbortController().signal
const standard = { timeoutMs: 30_000, maxBytes: 256 * 1024, redirects: 5 }

const toolAt = (url: string, rest: Partial<HttpTool> = {}): HttpTool => ({
  id: 't',
  name: 't',
  description: '',
  method: 'GET',
  headers: {},
  body: null,
  inputSchema: null,
  url,
  ...rest,
})

async function stage(listener: RequestListener, allow: readonly OutboundRule[] = []) {
  const server = await startWebServer(listener)
  const outbound = createOutbound({ policy: 'standard', allow })
  return {
    server,
    url: server.url,
    call: (tool: Partial<HttpTool> & { url: string }, args: Record<string, unknown> = {}, limits = standard) =>
      callHttpTool(outbound, toolAt(tool.url, tool), args, signal, null, undefined, limits),
    outbound,
    async [Symbol.asyncDispose]() {
      await outbound[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const port = (server: WebServer): OutboundRule => ({ kind: 'host', host: '127.0.0.1', port: server.port })
const closed = (server: WebServer) => expect.poll(() => server.connections.open).toBe(0)

verifies('contract-6.http-limits', 'the model reads status and text', async () => {
  await using at = await stage((request, response) => {
    const status = request.url === '/no' ? 404 : 200
    response
      .writeHead(status, { 'content-type': 'text/plain; charset=iso-8859-1' })
      .end(Buffer.from([0x67, 0xfc, 0x6e]))
  })
  expect(await at.call({ url: `${at.url}/yes` })).toEqual({
    ok: true,
    status: 200,
    content: 'Status 200 OK\n\ngün',
    body: 'gün',
  })
  expect(await at.call({ url: `${at.url}/no` })).toMatchObject({ ok: false, status: 404, body: 'gün' })
})

verifies('contract-6.http-limits', 'text that declares no charset is known by all of its bytes', async () => {
  const answers = [Buffer.from('café', 'latin1'), Buffer.from('kawaii ✓'), Buffer.from('✓'.repeat(100_000))]
  await using at = await stage((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(answers[Number(request.url?.slice(1))])
  })
  expect((await at.call({ url: `${at.url}/0` })).body).toBe('café')
  expect((await at.call({ url: `${at.url}/1` })).body).toBe('kawaii ✓')
  // 256 KiB end within a character.
  expect((await at.call({ url: `${at.url}/2` })).body).toMatch(/^✓+\n\[cut at 256 KiB\]$/)
})

verifies('contract-25.tool-pictures', 'a picture comes beside a note of it, as what its bytes say', async () => {
  const png = Buffer.alloc(300_000)
  png.write('\x89PNG\r\n\x1a\n', 'latin1')
  const large = Buffer.concat([png, Buffer.alloc(3_500_000)])
  const answers: Record<string, [type: string, body: Buffer]> = {
    '/png': ['image/jpeg', png],
    '/unnamed': ['application/octet-stream', png.subarray(0, 1000)],
    '/large': ['image/png', large],
    '/tiff': ['image/tiff', Buffer.from('II*\0')],
    '/svg': ['image/svg+xml', Buffer.from('<svg/>')],
    '/words': ['binary/octet-stream', Buffer.from('words')],
  }
  await using at = await stage((request, response) => {
    const [type, body] = answers[request.url ?? ''] ?? ['', Buffer.of()]
    response.writeHead(200, { 'content-type': type }).end(body)
  })
  const read = async (path: string) => {
    const { content, pictures } = await at.call({ url: at.url + path })
    return [content.split('\n').at(-1), pictures?.map(({ mediaType, size }) => [mediaType, size])]
  }
  expect(await read('/png')).toEqual(['[image: image/png, 300000 bytes]', [['image/png', 300_000]]])
  expect(await read('/unnamed')).toEqual(['[image: image/png, 1000 bytes]', [['image/png', 1000]]])
  expect(await read('/large')).toEqual(['(not text: image/png)', undefined])
  expect(await read('/tiff')).toEqual(['(not text: image/tiff)', undefined])
  expect(await read('/svg')).toEqual(['<svg/>', undefined])
  expect(await read('/words')).toEqual(['words', undefined])
})

verifies('contract-6.http-limits', 'of 50 MiB the model reads 256 KiB, and the rest is not read', async () => {
  let sent = 0
  const chunks = function* () {
    for (; sent < 800; sent++) yield Buffer.alloc(64 * 1024, 'ü')
  }
  await using at = await stage((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    pipeline(Readable.from(chunks()), response).catch(() => {}) // the reader disconnects, as it should
  })
  const { ok, content } = await at.call({ url: at.url })
  expect(ok).toBe(true)
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(256 * 1024)
  expect(Buffer.byteLength(content)).toBeGreaterThan(255 * 1024)
  expect(content).toMatch(/^Status 200 OK\n\nü+\n\[cut at 256 KiB\]$/)
  await closed(at.server)
  expect(sent).toBeLessThan(800)
})

verifies(
  'contract-6.http-limits',
  'a small response that grows when decoded or decompressed stays within the limit',
  async () => {
    const { gzipSync } = await import('node:zlib')
    await using at = await stage((request, response) => {
      if (request.url === '/gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(50_000_000)))
      else response.setHeader('content-type', 'text/plain; charset=windows-1252').end(Buffer.alloc(250 * 1024, 0x80))
    })
    for (const path of ['/gzip', '/euros']) {
      const { content } = await at.call({ url: at.url + path })
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(256 * 1024)
      expect(content).toMatch(/\[cut at 256 KiB\]$/)
    }
  },
)

verifies(
  'contract-6.http-limits',
  'a server that never answers, or answers byte by byte, hits the time limit',
  async () => {
    await using at = await stage((request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(timer))
    })
    for (const path of ['/silent', '/slow']) {
      const result = await at.call({ url: at.url + path }, {}, { ...standard, timeoutMs: 200 })
      expect(result).toEqual({ ok: false, status: null, content: expect.stringMatching(/within 0.2 s/), body: null })
      await closed(at.server)
    }
  },
)

verifies('contract-6.http-limits', 'an abort closes the socket, before and during the response', async () => {
  const arrived = Promise.withResolvers<void>()
  await using at = await stage((request, response) => {
    if (request.url === '/within') response.write('x')
    arrived.resolve()
  })
  for (const path of ['/before', '/within']) {
    const stop = new AbortController()
    const call = callHttpTool(at.outbound, toolAt(at.url + path), {}, stop.signal)
    await expect.poll(() => at.server.requests.length).toBe(path === '/before' ? 1 : 2)
    stop.abort(new Error('cancelled'))
    await expect(call).rejects.toThrow('cancelled')
    await closed(at.server)
  }
})

verifies('contract-6.http-limits', 'failures are reported without an address', async () => {
  await using at = await stage((request, response) => {
    if (request.url === '/reset') response.destroy()
    else if (request.url === '/head') response.setHeader('x', 'x'.repeat(100_000)).end()
    else response.setHeader('content-encoding', 'gzip').end('no gzip')
  })
  const gone = await startWebServer(() => {})
  await gone[Symbol.asyncDispose]()
  const content = async (url: string) => (await at.call({ url })).content
  expect(await content(gone.url)).toBe('The call failed: connection refused.')
  expect(await content('http://name.invalid/')).toMatch(/^The call failed: host name (not found|lookup failed)\.$/)
  expect(await content(`${at.url}/reset`)).toMatch(/^The call failed: connection/)
  expect(await content(`${at.url}/head`)).toBe('The call failed: the headers of the answer are too large.')
  expect(await content(`${at.url}/gzip`)).toBe('The call failed: the answer is badly compressed.')
  expect(await content('http://169.254.169.254/x')).toMatch(/not allowed: link-local/)
})

verifies(
  ['contract-6.http-limits', 'contract-6.redirects'],
  'five redirects are followed, a sixth is not',
  async () => {
    await using at = await stage((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end()
      else response.end('arrived')
    })
    expect(await at.call({ url: `${at.url}/5` })).toMatchObject({ ok: true, body: 'arrived' })
    expect(await at.call({ url: `${at.url}/6` })).toMatchObject({ ok: false, content: 'More than 5 redirects.' })
    const before = at.server.requests.length
    expect(await at.call({ url: `${at.url}/20` })).toMatchObject({ ok: false, content: 'More than 5 redirects.' })
    expect(at.server.requests).toHaveLength(before + 6)
  },
)

verifies('contract-6.redirects', 'the same origin gets the headers and, with 307 and 308, the body', async () => {
  await using at = await stage((request, response) => {
    const status = Number(request.url?.slice(1))
    if (status > 0) response.writeHead(status, { location: '/' }).end()
    else response.end('arrived')
  })
  for (const [status, asked, method, body] of [
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', '{"a":1}'],
    [307, 'POST', 'POST', '{"a":1}'],
    [308, 'POST', 'POST', '{"a":1}'],
  ] as const) {
    await at.call({ url: `${at.url}/${status}`, method: asked, headers: { 'X-Key': 's' } }, { a: 1 })
    const arrived = at.server.requests.at(-1)
    expect(arrived).toMatchObject({ method, path: '/', body, headers: { 'x-key': 's' } })
    expect(arrived?.headers['content-type']).toBe(body === '' ? undefined : 'application/json')
  }
})

verifies('contract-6.redirects', 'a location in UTF-8, as servers write it, is read as that', async () => {
  await using at = await stage((request, response) => {
    const location = Buffer.from('/grün').toString('latin1')
    if (request.url === '/') response.writeHead(302, { location }).end()
    else response.end(request.url)
  })
  expect(await at.call({ url: at.url })).toMatchObject({ body: '/gr%C3%BCn' })
})

verifies(
  'contract-6.redirects',
  "a redirect to loopback, link-local or another port is a model's choice: refused",
  async () => {
    await using inner = await startWebServer((_, response) => response.end('secret'))
    await using at = await stage((request, response) => {
      response.writeHead(307, { location: decodeURIComponent(request.url?.slice(1) ?? '') }).end()
    })
    for (const target of [
      `${inner.url}/`,
      `http://localhost:${inner.port}/`,
      `http://[::ffff:127.0.0.1]:${inner.port}/`,
      `http://2130706433:${inner.port}/`,
      `//127.0.0.1:${inner.port}/`,
      `http://localhost:${at.server.port}/`,
      `https://127.0.0.1:${at.server.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      `http://user:pw@127.0.0.1:${inner.port}/`,
    ]) {
      const { ok, status, content } = await at.call({ url: `${at.url}/${encodeURIComponent(target)}` })
      expect([target, ok, status]).toEqual([target, false, null])
      expect(content).toMatch(/not allowed|Only http|not called/)
    }
    expect(inner.connections.opened).toBe(0)
  },
)

verifies(
  'contract-6.redirects',
  'another origin gets no configured header and no body, nor does a redirect back',
  async () => {
    await using inner = await startWebServer((request, response) => {
      if (request.url === '/back') response.writeHead(307, { location: request.headers.referer ?? back }).end()
      else response.end('arrived')
    })
    let back = ''
    await using at = await stage(
      (request, response) => {
        if (request.url?.startsWith('/to/'))
          response.writeHead(307, { location: `${inner.url}/${request.url.slice(4)}` }).end()
        else response.end('home')
      },
      [port(inner)],
    )
    back = `${at.url}/home`
    const tool = {
      method: 'POST',
      headers: { 'X-Key': 'secret', authorization: 'Bearer secret', cookie: 'a=b' },
      body: 'secret',
    }
    expect(await at.call({ ...tool, url: `${at.url}/to/there` })).toMatchObject({ ok: true, body: 'arrived' })
    const [arrived] = inner.requests
    expect(arrived).toMatchObject({ path: '/there', body: '' })
    expect(JSON.stringify(arrived)).not.toContain('secret')
    expect(arrived?.headers).not.toHaveProperty('cookie')
    expect(arrived?.headers).not.toHaveProperty('content-type')

    // The redirect back was chosen by the other origin: this server is not public, so it is refused.
    const returned = await at.call({ ...tool, url: `${at.url}/to/back` })
    expect(returned).toMatchObject({ ok: false, content: expect.stringMatching(/not allowed/) })
    expect(at.server.requests.map(({ path }) => path)).not.toContain('/home')
  },
)
