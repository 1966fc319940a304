/** Lists and responses that no good server sends, from a hand-written one (contract section 6). */
import { expect, onTestFinished, test, vi } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { good, never, offers, type Reply, serve, unknown } from '../mcp-by-hand.ts'

test('broken tools are left out with a log line each, the others are offered', async () => {
  await using hand = await serve(
    offers([
      null,
      { name: 7, inputSchema: { type: 'object' } },
      { name: { toString: 1 }, inputSchema: { type: 'object' } },
      { name: 'no schema' },
      { name: 'of a string', inputSchema: { type: 'string' } },
      { name: 'points away', inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/x' } } } },
      { name: '', inputSchema: { type: 'object' } },
      { name: 'large', inputSchema: { type: 'object', description: 'x'.repeat(70_000) } },
      { name: 'untyped', description: null, inputSchema: { properties: { a: { type: 'string' } } } },
      { ...good, outputSchema: { type: 'object', pattern: '(' }, annotations: 'none', icons: 3 },
      good,
    ]),
  )
  expect(await hand.mcp.tools(hand.server, never)).toEqual([
    { name: 'untyped', description: '', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } },
    { name: 'good', description: '', inputSchema: { type: 'object' } },
  ])
  expect(hand.lines).toHaveLength(9)
  expect(hand.lines).toContainEqual({
    mcpServer: 'Hand',
    tool: 'points away',
    reason: expect.stringMatching(/reference/),
  })
})

test('a thousand tools are cut to 500, a thousand broken ones get ten lines', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ ...good, name: `t${index}` }))
  await using hand = await serve(offers(many))
  expect(await hand.mcp.tools(hand.server, never)).toHaveLength(500)
  expect(hand.lines).toHaveLength(1)
  await using broken = await serve(offers(many.map(({ name }) => ({ name }))))
  expect(await broken.mcp.tools(broken.server, never)).toEqual([])
  expect(broken.lines).toHaveLength(10)
})

test('a list holds 1 MiB of names, descriptions and schemas', async () => {
  const of60KiB = (name: string) => ({
    ...good,
    name,
    inputSchema: { type: 'object', description: 'x'.repeat(60_000) },
  })
  await using hand = await serve(offers(Array.from({ length: 20 }, (_, index) => of60KiB(`t${index}`))))
  expect(await hand.mcp.tools(hand.server, never)).toHaveLength(17)
  expect(hand.lines).toHaveLength(3)
  expect(hand.lines[0]).toMatchObject({ tool: 't17', reason: 'the list is larger than 1024 KiB' })
})

test('pages are followed, but not forever', async () => {
  await using three = await serve((method, { cursor = '0' }) => {
    if (method !== 'tools/list') return unknown
    const next = Number(cursor) + 1
    return { result: { tools: [{ ...good, name: `t${cursor}` }], ...(next < 3 ? { nextCursor: String(next) } : {}) } }
  })
  expect((await three.mcp.tools(three.server, never)).map(({ name }) => name)).toEqual(['t0', 't1', 't2'])
  await using endless = await serve((method, { cursor = '0' }) =>
    method === 'tools/list' ? { result: { tools: [], nextCursor: `${Number(cursor) + 1}` } } : unknown,
  )
  expect(await endless.mcp.tools(endless.server, never)).toEqual([])
  expect(await endless.mcp.warning(endless.server)).toMatch(/more than 100 pages/)
})

verifies('contract-6.mcp', 'a list is cached for five minutes', async () => {
  await using hand = await serve(offers([good]))
  const now = performance.now.bind(performance)
  let passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
  onTestFinished(() => void vi.restoreAllMocks())
  const listings: number[] = []
  for (const seconds of [0, 290, 301]) {
    passed = seconds * 1000
    await hand.mcp.tools(hand.server, never)
    listings.push(hand.asked.filter((method) => method === 'tools/list').length)
  }
  expect(listings).toEqual([1, 1, 2])
})

const wrongPages: Record<string, { later: ReturnType<Reply>; says: RegExp }> = {
  'a circle of cursors': {
    later: { result: { tools: [{ ...good, name: 't1' }], nextCursor: 'b' } },
    says: /cursor of an earlier/,
  },
  'an error': {
    later: { error: { code: -32_603, message: 'out of order' } },
    says: /later page failed: .*out of order/,
  },
  'an HTTP status': { later: { status: 500 }, says: /later page failed: / },
}

for (const [what, { later, says }] of Object.entries(wrongPages)) {
  verifies('contract-35.tool-pages', `${what} on a later page keeps what was listed, with a warning`, async () => {
    await using hand = await serve((method, { cursor }) => {
      if (method !== 'tools/list') return unknown
      return cursor === 'b' ? later : { result: { tools: [good], nextCursor: 'b' } }
    })
    const names = (await hand.mcp.tools(hand.server, never)).map(({ name }) => name)
    expect(names).toEqual(what === 'a circle of cursors' ? ['good', 't1'] : ['good'])
    expect(await hand.mcp.warning(hand.server)).toMatch(says)
    expect(hand.lines).toEqual([{ mcpServer: 'Hand', reason: expect.stringMatching(says) }])
  })
}

test('an older server that fails on the newest request gets the older one', async () => {
  await using hand = await serve((method) => (method === 'server/discover' ? { status: 500 } : offers([good])(method)))
  expect(await hand.mcp.tools(hand.server, never)).toHaveLength(1)
  expect(hand.asked.slice(0, 2)).toEqual(['server/discover', 'initialize'])
})

test('a server error is reported with its message, another status as such; neither is retried', async () => {
  let calls = 0
  await using hand = await serve((method) => {
    if (method !== 'tools/call') return unknown
    calls += 1
    return calls === 1 ? { error: { code: -32_602, message: 'Unknown tool: x' } } : { status: 503 }
  })
  const call = () => hand.mcp.call(hand.server, 'x', {}, never)
  expect(await call()).toEqual({ ok: false, content: expect.stringMatching(/Unknown tool: x$/) })
  expect(await call()).toEqual({
    ok: false,
    content: 'The MCP server answered with HTTP status 503. The call may have been carried out; it is not repeated.',
  })
  expect(calls).toBe(2)
})

test('an event stream that breaks before the response ends the call at once', async () => {
  await using hand = await serve(() => 'breaks')
  expect(await hand.mcp.call(hand.server, 'x', {}, AbortSignal.timeout(10_000))).toEqual({
    ok: false,
    content: 'The connection broke before the answer came. The call may have been carried out; it is not repeated.',
  })
  expect(hand.asked.filter((method) => method === 'tools/call')).toHaveLength(1)
})

test('a header that cannot be sent is reported without its value', async () => {
  await using hand = await serve(() => unknown)
  const server = { ...hand.server, headers: { 'x-key': 's3cret\nvalue' } }
  await expect(hand.mcp.tools(server, never)).rejects.toThrow('A configured header of the MCP server cannot be sent.')
  expect(hand.asked).toEqual([])
})

test('after one reply waited in vain none waits for a while; the list, once it arrives, is there for all', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  await using hand = await serve(async (method) => {
    await mayAnswer
    return offers([good])(method)
  })
  const within = (ms: number) => hand.mcp.toolsWithin(ms, hand.server, never)
  const forever = 2 ** 30 // waiting for that fails the test
  await expect(within(50)).rejects.toThrow('no list of tools within 0.05 s')
  await expect(within(forever)).rejects.toThrow('still no list of tools')
  await expect(hand.mcp.toolsWithin(forever, hand.server, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow(
    'cancelled',
  )
  answer()
  await expect.poll(() => within(forever).catch(() => [])).toHaveLength(1)
})

test('a silence ends after its time, and when the server is changed', async () => {
  const silent: Reply = () => new Promise(() => {})
  await using hand = await serve(silent, { times: { silence: 0 } })
  for (const _ of ['first', 'second']) {
    await expect(hand.mcp.toolsWithin(50, hand.server, never)).rejects.toThrow('no list of tools within 0.05 s')
  }
  await using changed = await serve(silent)
  const ask = () => changed.mcp.toolsWithin(50, changed.server, never)
  await expect(ask()).rejects.toThrow('within 0.05 s')
  await expect(ask()).rejects.toThrow('still')
  changed.mcp.forget(changed.server.id)
  await expect(ask()).rejects.toThrow('within 0.05 s')
})

const ended = (retry: string) => ({ raw: `retry: ${retry}\n\n`, headers: { 'content-type': 'text/event-stream' } })

verifies('contract-18.no-freeze', 'an event stream that ends at once is not asked for without a pause', async () => {
  const asked: number[] = []
  const enough = Promise.withResolvers<void>()
  const onGet = () => {
    if (asked.push(performance.now()) === 6) enough.resolve()
  }
  await using hand = await serve(offers([good]), { get: ended('0'), onGet })
  await hand.mcp.tools(hand.server, never)
  await enough.promise
  // A lower bound: five pauses of 100 ms, and what timers round.
  expect((asked.at(-1) ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(400)
})

verifies('contract-18.no-freeze', 'nor at once where the server wants a pause that no timer can count', async () => {
  const events = Promise.withResolvers<void>()
  await using hand = await serve(offers([good]), { get: ended('99999999999'), onGet: events.resolve })
  await hand.mcp.tools(hand.server, never)
  await events.promise
  for (let calls = 0; calls < 50; calls += 1) await hand.mcp.call(hand.server, 'good', {}, never)
  expect(hand.asked.filter((method) => method === 'GET')).toHaveLength(1)
})

test.each([404, 410])('a server that answers %i to the event stream request is used like any other', async (status) => {
  const events = Promise.withResolvers<void>()
  await using hand = await serve(
    (method, params) => {
      if (method === 'tools/list') return { result: { tools: [good] } }
      return method === 'tools/call' ? { result: { content: [{ type: 'text', text: String(params.name) }] } } : unknown
    },
    { get: { status }, onGet: events.resolve },
  )
  expect(await hand.mcp.tools(hand.server, never)).toHaveLength(1)
  await events.promise
  for (let calls = 0; calls < 5; calls += 1) {
    expect(await hand.mcp.call(hand.server, 'good', {}, never)).toEqual({ ok: true, content: 'good' })
  }
  expect(hand.asked.filter((method) => method === 'initialize')).toHaveLength(1)
})
