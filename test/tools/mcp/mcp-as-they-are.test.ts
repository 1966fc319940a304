/** Contract section 25: what MCP servers and gateways really send. */
import { expect } from 'vitest'
import { mendEvents } from '../../../src/tools/mcp/mcp-event-mending.ts'
import { verifies } from '../../verifies.ts'
import { type Answer, good, never, offers, serve, unknown } from './mcp-by-hand.ts'

const calls = (result: object) => (method: string) => (method === 'tools/call' ? { result } : unknown)
const transports = ['streamable_http', 'sse'] as const
/** What comes of a call's result, over either transport. */
async function resultOf(result: object) {
  const [one, two] = await Promise.all(
    transports.map(async (transport) => {
      await using hand = await serve(calls(result), { transport })
      return { ...(await hand.mcp.call(hand.server, 'look', {}, never)), lines: hand.lines }
    }),
  )
  expect(two).toEqual(one)
  return { ok: one?.ok, content: one?.content, lines: one?.lines }
}

verifies('contract-25.mcp-nulls', 'null in a list of tools is absent', async () => {
  const tool = { ...good, annotations: null, description: null, outputSchema: null, title: null, _meta: null }
  for (const transport of transports) {
    for (const nextCursor of [null, 7, '']) {
      const list = { tools: [tool], nextCursor, _meta: null }
      await using hand = await serve((method) => (method === 'tools/list' ? { result: list } : unknown), { transport })
      expect(await hand.mcp.tools(hand.server, never)).toMatchObject([{ name: 'good', description: '' }])
    }
  }
})

verifies('contract-25.mcp-nulls', 'what a server says of itself may be null, or be missing', async () => {
  const tools = { tools: {} }
  const introductions = [
    { capabilities: { ...tools, prompts: null, resources: null }, serverInfo: { name: 'x', version: '1' } },
    { capabilities: tools, serverInfo: { name: 'x' } },
    { capabilities: tools, serverInfo: { name: 'x', version: null, title: null }, instructions: null, _meta: null },
    { capabilities: tools, serverInfo: null },
    { capabilities: tools },
    { capabilities: { tools: { listChanged: null } }, serverInfo: { name: 'x', version: '1' } },
    { capabilities: { tools: true, prompts: { listChanged: null }, resources: { subscribe: null } } },
    {
      capabilities: tools,
      serverInfo: { name: 'x', version: '1', icons: [{ src: 'a://b', mimeType: null, sizes: 1 }] },
    },
  ]
  for (const transport of transports) {
    for (const introduces of introductions) {
      await using hand = await serve(offers([good]), { introduces, transport })
      expect(await hand.mcp.tools(hand.server, never)).toMatchObject([{ name: 'good' }])
    }
  }
})

verifies('contract-25.mcp-nulls', 'null in the schema of a tool is absent, unless it is a value', async () => {
  const values = { default: null, const: null, enum: ['a', null], examples: [{ b: null }] }
  const property = (rest: object) => ({ a: { ...rest, ...values, anyOf: [{ type: 'string', ...rest }] } })
  const named = (rest: object) => ({ default: { type: 'string', ...rest }, enum: { type: 'string', ...rest } })
  const schema = (rest: object) => ({
    properties: { ...property(rest), ...named(rest) },
    $defs: { const: { type: 'string', ...rest } },
  })
  const nulls = { title: null, description: null, additionalProperties: null, enum: null }
  const tools = [
    { name: 'whole', inputSchema: { type: null, required: null, ...schema({ title: null, format: null }) } },
    { name: 'top', inputSchema: { $schema: null, properties: null, ...nulls } },
    { name: 'property', inputSchema: { properties: { a: nulls, b: null, default: null } } },
  ]
  await using hand = await serve(offers(tools))
  expect((await hand.mcp.tools(hand.server, never)).map(({ inputSchema }) => inputSchema)).toEqual([
    { type: 'object', ...schema({}) },
    { type: 'object' },
    { type: 'object', properties: { a: {} } },
  ])
  expect(hand.lines).toEqual([])
})

verifies('contract-25.mcp-nulls', 'a tool whose name is no text costs itself alone', async () => {
  for (const transport of transports) {
    await using hand = await serve(offers([good, { ...good, name: { toString: 1 } }, null]), { transport })
    expect(await hand.mcp.tools(hand.server, never)).toMatchObject([{ name: 'good' }])
    expect(hand.lines).toMatchObject([{ tool: '{"toString":1}' }, { tool: 'null' }])
  }
})

verifies('contract-25.mcp-nulls', 'null in what a call gives is absent', async () => {
  const text = { type: 'text', text: 'done', annotations: null, _meta: null }
  expect(await resultOf({ content: [text], structuredContent: null, isError: null, _meta: null })).toEqual({
    ok: true,
    content: 'done',
    lines: [],
  })
  expect(await resultOf({ content: null, structuredContent: { a: 1 } })).toMatchObject({ ok: true, content: '{"a":1}' })
  expect((await resultOf({ structuredContent: { a: null } })).content).toBe('{"a":null}')
})

verifies('contract-25.mcp-nulls', 'null inside a block is absent, and so is what cannot be read there', async () => {
  const resource = (rest: object) => ({ type: 'resource', resource: { uri: 'a://b', text: 'the text', ...rest } })
  const link = { type: 'resource_link', name: 'n', uri: 'a://b', icons: [{ src: 'a://b', mimeType: null }], size: '7' }
  const blob = { type: 'resource', resource: { uri: 'a://b', text: null, blob: 'AAAA', mimeType: null, _meta: 7 } }
  const content = [resource({ mimeType: null }), resource({ _meta: null }), resource({ mimeType: 7, blob: null }), link]
  expect(await resultOf({ content: [...content, blob] })).toEqual({
    ok: true,
    content: 'the text\nthe text\nthe text\n[resource: n, a://b]\n[resource: a://b, unknown type, 3 bytes, not shown]',
    lines: [],
  })
})

verifies('contract-25.mcp-nulls', 'text is read where its block lacks a type, an address or a place', async () => {
  const text = { type: 'text', text: 'one' }
  const content = [[text, { text: 'two' }], { type: 'resource', resource: { text: 'three' } }, { text: 4 }]
  const { content: read, lines } = await resultOf({ content })
  expect([read, lines?.length]).toEqual(['one\ntwo\nthree', 1])
})

verifies('contract-25.mcp-nulls', 'structured content that is no object costs no text, and is read', async () => {
  const text = { type: 'text', text: 'good' }
  expect((await resultOf({ content: [text], structuredContent: [1, 2] })).content).toBe('good\n{"result":[1,2]}')
  expect((await resultOf({ content: [text], structuredContent: 'good' })).content).toBe('good')
  expect((await resultOf({ content: [], structuredContent: 'plain' })).content).toBe('{"result":"plain"}')
})

verifies('contract-25.mcp-nulls', 'a result beside error: null is a result', async () => {
  const both = Object.assign({ result: { content: [{ type: 'text', text: 'done' }] } }, { error: null })
  await using hand = await serve((method): Answer => (method === 'tools/call' ? both : unknown))
  expect(await hand.mcp.call(hand.server, 'look', {}, never)).toEqual({ ok: true, content: 'done' })
})

verifies(
  'contract-25.mcp-nulls',
  'null in a message of an event stream is absent, however it is written there',
  async () => {
    const result = '"result":{"_meta": null,"content":[{"type":"text","text":"dönè"}]}'
    const writings = [
      (id: number) => `event: message\nid: 7\ndata: {"jsonrpc":"2.0","id":${id},"error": null,${result}}\n\n`,
      (id: number) => `: hello\r\n\r\ndata:{"jsonrpc":"2.0","id":${id},\r\ndata:${result}}\r\n\r\n`,
      (id: number) => `data: {"jsonrpc":"2.0","id":${id},"error":null,${result}}\r\r: bye`,
    ]
    for (const writing of writings) {
      await using hand = await serve((method, _params, _headers, id) =>
        method === 'tools/call' ? { raw: writing(id), headers: { 'content-type': 'text/event-stream' } } : unknown,
      )
      expect(await hand.mcp.call(hand.server, 'look', {}, never)).toEqual({ ok: true, content: 'dönè' })
    }
    const both = Object.assign({ result: { _meta: null, content: [{ type: 'text', text: 'done' }] } }, { error: null })
    await using old = await serve((method): Answer => (method === 'tools/call' ? both : unknown), { transport: 'sse' })
    expect(await old.mcp.call(old.server, 'look', {}, never)).toEqual({ ok: true, content: 'done' })
  },
)

verifies('contract-25.mcp-nulls', 'events are mended wherever the network cuts them', async () => {
  const given =
    'id: 1\r\ndata: {"error":null,"result":{"a":"é"}}\r\n\r\n: ping\n\ndata: {"result":{"b":1}}\n\ndata: rest'
  const bytes = new TextEncoder().encode(given)
  for (let size = 1; size <= bytes.length; size++) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.slice(n * size, (n + 1) * size),
    )
    const text = await new Response(mendEvents(ReadableStream.from(pieces))).text()
    expect(text.replace(/\r?\n|\r/g, '\n').replace(/\n{2,}/g, '\n\n')).toBe(
      'id: 1\ndata: {"result":{"a":"é"}}\n\n: ping\n\ndata: {"result":{"b":1}}\n\ndata: rest',
    )
  }
})

verifies('contract-25.mcp-nulls', 'a block that cannot be read costs itself alone, and is logged', async () => {
  const text = { type: 'text', text: 'good' }
  const { content, ok, lines } = await resultOf({ content: [text, { type: 'error', error: 'x' }, 7, null, text] })
  expect([ok, content]).toEqual([true, 'good\ngood'])
  expect(lines).toHaveLength(3)
  expect(await resultOf({ content: [{ type: 'text', text: 42 }, 'plain'] })).toMatchObject({ content: '42\nplain' })
  expect(await resultOf({ content: { type: 'text', text: 'one' } })).toMatchObject({ content: 'one' })
  const picture = { type: 'image', data: 'AAAA' }
  expect((await resultOf({ content: [text, picture] })).content).toBe(
    'good\n[image: application/octet-stream, 3 bytes, not shown]',
  )
})

const refusals = [
  [422, '{"jsonrpc":"2.0","id":9,"error":{"code":-32602,"message":"amount: too much"}}', 'amount: too much'],
  [403, '{"detail":"not for you"}', 'not for you'],
  [402, '{"error":"quota"}', 'quota'],
  [409, 'plainly no', 'plainly no'],
] as const

for (const transport of transports) {
  verifies(
    'contract-25.mcp-words',
    `a status of 4xx says what was wrong, and the call was not made: ${transport}`,
    async () => {
      for (const [status, text, words] of refusals) {
        await using hand = await serve((method) => (method === 'tools/call' ? { status, text } : unknown), {
          transport,
        })
        expect(await hand.mcp.call(hand.server, 'look', {}, never)).toMatchObject({
          ok: false,
          content: `The MCP server answered with HTTP status ${status}: ${words}`,
        })
      }
    },
  )
}

verifies('contract-25.tool-pictures', 'a picture comes beside the text, as what its bytes say', async () => {
  const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
  const webp = Buffer.from('RIFF1234WEBPrest', 'latin1')
  const image = (bytes: Buffer, mimeType?: string) => ({ type: 'image', data: bytes.toString('base64'), mimeType })
  const resource = { type: 'resource', resource: { uri: 'a://b', blob: png.toString('base64') } }
  const none = [image(Buffer.from('RIFF1234WAVErest')), image(Buffer.alloc(5_000_001, png)), image(Buffer.from('x'))]
  const result = { content: [image(png, 'image/jpeg'), image(webp), resource, ...none] }
  await using hand = await serve(calls(result))
  const { content, pictures = [] } = await hand.mcp.call(hand.server, 'look', {}, never)
  expect(content.split('\n')).toEqual([
    `[image: image/png, ${png.length} bytes]`,
    `[image: image/webp, ${webp.length} bytes]`,
    `[image: image/png, ${png.length} bytes]`,
    '[image: application/octet-stream, 16 bytes, not shown]',
    '[image: application/octet-stream, 5000001 bytes, not shown]',
    '[image: application/octet-stream, 1 bytes, not shown]',
  ])
  expect(pictures.map(({ mediaType, size }) => [mediaType, size])).toEqual([
    ['image/png', png.length],
    ['image/webp', webp.length],
    ['image/png', png.length],
  ])
  const read: Uint8Array[] = []
  for await (const piece of pictures[1]?.read() ?? []) read.push(piece)
  expect(Buffer.concat(read)).toEqual(webp)
})

const isJson = { 'content-type': 'application/json' }
const isEvents = { 'content-type': 'text/event-stream' }

verifies('contract-25.mcp-words', 'an error that names no request is the answer to the one that was sent', async () => {
  const error = '"error":{"code":-32602,"message":"amount: too much"}'
  const writings: Answer[] = [
    { raw: `{"jsonrpc":"2.0","id":null,${error}}`, headers: isJson },
    { raw: `{"jsonrpc":"2.0",${error}}`, headers: isJson },
    { raw: `data: {"jsonrpc":"2.0","id": null,${error}}\n\n`, headers: isEvents },
    { raw: `data: {"jsonrpc":"2.0",${error}}\n\n`, headers: isEvents },
  ]
  for (const writing of writings) {
    await using hand = await serve((method) => (method === 'tools/call' ? writing : unknown))
    expect(await hand.mcp.call(hand.server, 'look', {}, never)).toEqual({ ok: false, content: 'amount: too much' })
  }
})

verifies('contract-25.mcp-words', 'an error is read whatever its code is, or its form', async () => {
  const message = 'amount: too much'
  const errors = [
    { message },
    { code: 'E_AMOUNT', message },
    { code: '-32602', message },
    { code: 4.5, message },
    { code: null, message, data: null },
    { code: -32_000, message: null, detail: message },
    message,
    [message],
  ]
  for (const transport of transports) {
    for (const error of errors) {
      const written = Object.assign({ error: {} }, { error })
      await using hand = await serve((method) => (method === 'tools/call' ? written : unknown), { transport })
      expect(await hand.mcp.call(hand.server, 'look', {}, never)).toEqual({ ok: false, content: message })
    }
  }
})

verifies('contract-25.mcp-words', 'a page is no words', async () => {
  await using page = await serve((method) =>
    method === 'tools/call' ? { status: 405, text: '<html>no</html>' } : unknown,
  )
  expect((await page.mcp.call(page.server, 'look', {}, never)).content).toBe(
    'The MCP server answered with HTTP status 405.',
  )
})
