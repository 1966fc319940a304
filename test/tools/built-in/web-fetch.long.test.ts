/** `web_fetch` over real sockets (specification 2.4, contract section 6). */
import type { RequestListener } from 'node:http'
import { expect } from 'vitest'
import { htmlToMarkdown } from '../../../src/tools/built-in/html-to-markdown.ts'
import { fetchPage, webFetch } from '../../../src/tools/built-in/web-fetch.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { startWebServer } from '../web-server.ts'

const signal = new AbortController().signal
const MiB = 1024 * 1024
const standard = { timeoutMs: 20_000, maxPageBytes: 5 * MiB, maxBytes: 256 * 1024, redirects: 5 }

/** Loopback is allowed for this server alone; the default content type is HTML. */
async function stage(listener: RequestListener) {
  const server = await startWebServer(listener)
  const outbound = createOutbound({
    policy: 'standard',
    allow: [{ kind: 'host', host: '127.0.0.1', port: server.port }],
  })
  return {
    server,
    outbound,
    get: (path: string, limits = standard) => fetchPage({ outbound, of: '' }, server.url + path, signal, limits),
    async [Symbol.asyncDispose]() {
      await outbound[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const serving = (type: string | null, body: string | Buffer) =>
  stage((_, response) => {
    if (type !== null) response.setHeader('content-type', type)
    response.end(body)
  })

const sentence = 'The weaver birds of the savannah build their nests from grass, leaf by leaf, for many weeks.'
const article = `<!doctype html><html><head><title>Weaver birds</title><script>let x = "</p>"</script></head><body>
  <nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
  <article><h1>Weaver birds</h1>${`<p>${sentence}</p>`.repeat(6)}
  <h2>Nests</h2><ul><li>round</li><li>woven</li></ul><pre><code>grass &lt; leaf</code></pre>
  <p>See <a href="../more?x=1">more</a> and <a href="javascript:alert(1)">this</a>.</p></article>
  <footer>Imprint</footer></body></html>`

verifies('contract-6.web-fetch', "a page's main content is returned as Markdown", async () => {
  await using at = await serving('text/html; charset=utf-8', article)
  const { ok, content } = await at.get('/birds/weaver')
  expect(ok).toBe(true)
  expect(content).toMatch(/^# Weaver birds\n\n/)
  expect(content).toContain(sentence)
  expect(content).toContain('## Nests')
  expect(content).toMatch(/^-\s+round$/m)
  expect(content).toContain('```\ngrass < leaf\n```')
  expect(content).toContain(`[more](${at.server.url}/more?x=1)`)
  expect(content).not.toMatch(/javascript:|Shop|Imprint|let x|<p>/)
  expect(at.server.requests[0]?.headers['user-agent']).toContain('Greenroom')
})

verifies('contract-6.web-fetch', 'text and JSON are returned unchanged', async () => {
  for (const [type, body] of [
    ['text/plain', 'a <b>\n\n  c'],
    ['application/json', '{"a":  [1,\n2]}'],
    ['application/vnd.api+json; charset=utf-8', '{"é": 1}'],
    ['text/markdown', '# A *b*'],
    [null, 'no type at all'],
    ['application/octet-stream', 'whatever the server knew'],
  ] as const) {
    await using at = await serving(type, body)
    expect(await at.get('/')).toEqual({ ok: true, content: body })
  }
})

verifies('contract-6.web-fetch', 'content that is not text is reported, not returned', async () => {
  await using at = await serving('image/png', Buffer.from([0x89, 0x50, 0, 1]))
  expect(await at.get('/')).toEqual({ ok: false, content: 'The content is not text (image/png).' })
  await using untyped = await serving(null, Buffer.from([0x89, 0x50, 0, 1]))
  expect(await untyped.get('/')).toMatchObject({ ok: false })
  await using archive = await serving('application/octet-stream', `${'#'.repeat(2000)}\0`)
  expect(await archive.get('/')).toMatchObject({ ok: false })
})

verifies('contract-6.web-fetch', 'charsets: header, byte order mark, meta, and the fallback', async () => {
  const page = (text: string, encoding: BufferEncoding, head = '') =>
    Buffer.from(`<html><head>${head}<title>t</title></head><body><p>${text}</p></body></html>`, encoding)
  for (const [type, body, expected] of [
    ['text/html; charset=iso-8859-1', page('gün', 'latin1'), 'gün'],
    ['text/html', page('gün', 'latin1', '<meta charset="windows-1252">'), 'gün'],
    ['text/html', page('gün', 'latin1'), 'gün'],
    ['text/html', page('gün', 'utf8'), 'gün'],
    ['text/html; charset=made-up', page('gün', 'utf8'), 'gün'],
    ['text/html', Buffer.concat([Buffer.from([0xff, 0xfe]), page('gün', 'utf16le')]), 'gün'],
    ['text/plain; charset=shift_jis', Buffer.from([0x83, 0x65]), 'テ'],
    ['text/plain', Buffer.from([0x80]), '€'],
    ['text/plain', Buffer.from('café', 'latin1'), 'café'],
    [null, Buffer.from('\ufeffgün', 'utf16le'), 'gün'],
  ] as const) {
    await using at = await serving(type, body)
    expect([type, (await at.get('/')).content]).toEqual([type, expect.stringContaining(expected)])
  }
})

verifies('contract-6.web-fetch', 'an error response is reported with its text', async () => {
  await using at = await stage((_, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('gone'))
  expect(await at.get('/')).toEqual({ ok: false, content: 'The server answered 404.\n\ngone' })
})

verifies('contract-6.web-fetch', 'at most 5 MiB is read, and long text is cut', async () => {
  let sent = 0
  await using at = await stage(async (request, response) => {
    response.setHeader('content-type', 'text/plain')
    if (request.url === '/long') return response.end('ü'.repeat(MiB))
    for (; sent < 50 && !response.destroyed; sent++) await new Promise((go) => response.write('a'.repeat(MiB), go))
    return response.end()
  })
  const { ok, content } = await at.get('/endless')
  expect(ok).toBe(true)
  expect(content).toMatch(/^a+\n\n\[cut here: the page is longer\]$/)
  await expect.poll(() => at.server.connections.open).toBe(0)
  expect(sent).toBeLessThan(50)
  const long = await at.get('/long')
  expect(Buffer.byteLength(long.content)).toBeLessThanOrEqual(256 * 1024)
  expect(long.content).toMatch(/^ü+\n\n\[cut/)
})

verifies(
  'contract-6.web-fetch',
  'a server that never answers, or answers byte by byte, hits the time limit',
  async () => {
    await using at = await stage((request, response) => {
      if (request.url === '/silent') return
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(timer))
    })
    for (const path of ['/silent', '/slow']) {
      const result = await at.get(path, { ...standard, timeoutMs: 200 })
      expect(result).toEqual({ ok: false, content: 'No whole answer within 0.2 s.' })
      await expect.poll(() => at.server.connections.open).toBe(0)
    }
  },
)

verifies('contract-6.web-fetch', 'an abort closes the socket', async () => {
  await using at = await stage(() => {})
  const stop = new AbortController()
  const call = webFetch.call({ url: at.server.url }, { outbound: at.outbound, signal: stop.signal, of: '' })
  await expect.poll(() => at.server.requests.length).toBe(1)
  stop.abort(new Error('cancelled'))
  await expect(call).rejects.toThrow('cancelled')
  await expect.poll(() => at.server.connections.open).toBe(0)
})

verifies(['contract-6.web-fetch', 'contract-6.redirects'], 'every hop is checked like the first', async () => {
  await using inner = await startWebServer((_, response) => response.end('secret'))
  await using at = await stage((request, response) => {
    const left = Number(/^\/hops\/(\d+)$/.exec(request.url ?? '')?.[1] ?? -1)
    if (left > 0) response.writeHead(302, { location: `/hops/${left - 1}` }).end()
    else if (left === 0) response.setHeader('content-type', 'text/plain').end('arrived')
    else response.writeHead(302, { location: `${inner.url}/` }).end()
  })
  expect(await at.get('/hops/5')).toEqual({ ok: true, content: 'arrived' })
  expect(await at.get('/hops/20')).toEqual({ ok: false, content: 'More than 5 redirects.' })
  expect(await at.get('/inner')).toMatchObject({ ok: false, content: expect.stringMatching(/not allowed/) })
  expect(await webFetch.call({ url: inner.url }, { outbound: at.outbound, signal, of: '' })).toMatchObject({
    ok: false,
  })
  expect(await webFetch.call({ url: 7 }, { outbound: at.outbound, signal, of: '' })).toMatchObject({ ok: false })
  expect(inner.connections.opened).toBe(0)
})

const hostile: [name: string, html: string][] = [
  ['5 MiB of nested divs', '<div>'.repeat(MiB)],
  ['5,000 nested divs', `${'<div>'.repeat(5000)}text${'</div>'.repeat(5000)}`],
  ['5 million "<"', '<'.repeat(5_000_000)],
  ['scripts and comments that never end', '<script><!--'.repeat(400_000)],
  ['an attribute of 5 MiB', `<p title="${'a'.repeat(5 * MiB)}`],
]

for (const [name, html] of hostile) {
  verifies('contract-6.web-fetch', `a hostile page gives a result and blocks nothing else: ${name}`, async () => {
    await using at = await serving('text/html', html)
    let ticks = 0
    const timer = setInterval(() => ticks++, 20)
    const result = await at.get('/')
    clearInterval(timer)
    expect(result.content).toEqual(expect.any(String))
    expect(ticks).toBeGreaterThan(1)
  })
}

const pageOf = (html: string) => ({
  chunks: [Buffer.from(html)],
  url: 'https://example.test/',
  charset: '',
  maxBytes: 262_144,
  note: '',
  cut: false,
})

verifies('contract-6.web-fetch', 'a page that takes too much time or memory is given up', async () => {
  const slow = '<!doctype'.repeat(390_000)
  const call = (limits: { timeoutMs: number; maxMegabytes: number }, html = slow, by = signal) =>
    htmlToMarkdown(pageOf(html), { of: '', signal: by }, limits)
  await expect(call({ timeoutMs: 300, maxMegabytes: 512 })).rejects.toThrow(/too tangled|too long/)
  // Far above the heap's limit: near it a slow machine collects garbage until the time is over.
  const large = '<p>text</p>'.repeat(400_000)
  await expect(call({ timeoutMs: WAIT_MS, maxMegabytes: 48 }, large)).rejects.toThrow(/too large/)
  const stop = new AbortController()
  const calls = Array.from({ length: 4 }, () => call({ timeoutMs: WAIT_MS, maxMegabytes: 512 }, slow, stop.signal))
  stop.abort(new Error('cancelled'))
  for (const one of calls) await expect(one).rejects.toThrow('cancelled')
  expect(await call({ timeoutMs: WAIT_MS, maxMegabytes: 512 }, '<p>next</p>')).toBe('next')
})

verifies('contract-18.a-turn-each', 'whoever reads many pages delays another one by a single page', async () => {
  const ended: string[] = []
  const read = async (of: string) => {
    await htmlToMarkdown(pageOf('<p>text</p>'), { of, signal }, { timeoutMs: WAIT_MS, maxMegabytes: 512 })
    ended.push(of)
  }
  await Promise.all([...Array.from({ length: 8 }, () => read('many')), read('one')])
  // Two began before it waited, two go before it, and one beside it; documents do the same.
  expect(ended.indexOf('one')).toBeLessThan(6)
})
