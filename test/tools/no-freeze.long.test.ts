/**
 * Nothing that a tool or an MCP server sends blocks the event loop: contract section 18, 250 ms on a quiet machine.
 * Measured as CPU time of this thread, see longest-turn.ts.
 */
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { fetchPage } from '../../src/tools/built-in/web-fetch.ts'
import { workOutNames } from '../../src/tools/naming/approvals.ts'
import { createOutbound } from '../../src/tools/outbound/outbound.ts'
import { leastOfSeveral, longestTurn } from '../support/measures/longest-turn.ts'
import { verifies } from '../verifies.ts'
import { type Answer, never, offers, serve, unknown } from './mcp/mcp-by-hand.ts'
import { startWebServer } from './web-server.ts'

const LIMIT_MS = 250
const MIB = 1024 * 1024
const rule = 'contract-18.no-freeze'

const property = { type: 'object', properties: { a: { type: 'string', minLength: 1, description: 'A value.' } } }
const properties = (count: number, of: unknown = property) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, of]))

const largeTools = (count: number, fields: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    inputSchema: {
      type: 'object',
      title: String(index),
      properties: properties(fields, { anyOf: [property, { type: 'null' }] }),
    },
  }))

describe('lists of MCP servers', () => {
  const lists: [string, unknown[]][] = [
    ['40 schemas of 75 KiB', largeTools(40, 600)],
    ['8 schemas of 54 KiB, which are within all limits', largeTools(8, 430)],
    [
      '40 schemas whose 4,000 allowed values are compared with each other',
      Array.from({ length: 40 }, (_, index) => ({
        name: `t${index}`,
        inputSchema: {
          $schema: 'http://json-schema.org/draft-07/schema#',
          type: 'object',
          properties: { a: { enum: Array.from({ length: 2_000 }, (_, at) => [at, index]) } },
        },
      })),
    ],
    ['a name of 7 MiB', [{ name: 'x'.repeat(7 * MIB), inputSchema: { type: 'object' } }]],
    ['a million tools', [{ name: 'x', inputSchema: { type: 'object', enum: Array.from({ length: MIB }, () => []) } }]],
  ]
  for (const [name, tools] of lists) {
    verifies(rule, name, async () => {
      const longest = await leastOfSeveral(LIMIT_MS, async () => {
        await using hand = await serve(offers(tools))
        return await longestTurn(() => hand.mcp.tools(hand.server, never).catch(() => {}))
      })
      expect(longest).toBeLessThan(LIMIT_MS)
    })
  }
})

describe('results of MCP servers', () => {
  const sse = { 'content-type': 'text/event-stream' }
  const gzip = { 'content-encoding': 'gzip' }
  const json = { 'content-type': 'application/json' }
  const ping = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n\n`
  const results: [string, () => Answer][] = [
    [
      '300 MiB of blank lines in gzip',
      () => ({ raw: gzipSync(Buffer.alloc(300 * MIB, '\n')), headers: { ...sse, ...gzip } }),
    ],
    [
      '300 MiB of blanks in gzip',
      () => ({ raw: gzipSync(Buffer.alloc(300 * MIB, ' ')), headers: { ...json, ...gzip } }),
    ],
    [
      '8 MiB of carriage returns',
      () => ({ raw: Buffer.concat([Buffer.from(': x\r'), Buffer.alloc(8 * MIB, '\r')]), headers: sse }),
    ],
    ['2 million empty lists', () => ({ raw: `{"result":[${'[],'.repeat(2 * MIB)}0]}`, headers: json })],
    [
      '2 million empty lists behind a quote in a comment',
      () => ({ raw: `: "\ndata: {"result":[${'[],'.repeat(2 * MIB)}0]}\n\n`, headers: sse }),
    ],
    [
      '200,000 blocks of text',
      () => ({ result: { content: Array.from({ length: 200_000 }, () => ({ type: 'text', text: '' })) } }),
    ],
    ['10,000 pings', () => ({ raw: ping.repeat(10_000), headers: sse })],
    [
      '100 texts that 100 fields nearly repeat',
      () => {
        const list = Array.from({ length: 100 }, (_, index) => index)
        const content = Array.from({ length: 100 }, () => ({ type: 'text', text: JSON.stringify(list) }))
        return { result: { content, structuredContent: properties(100, [...list.slice(1), 0]) } }
      },
    ],
  ]
  for (const [name, answerOf] of results) {
    verifies(rule, name, async () => {
      const answer = answerOf()
      const longest = await leastOfSeveral(LIMIT_MS, async () => {
        await using hand = await serve((method) => (method === 'tools/call' ? answer : unknown), {
          times: { call: 5_000 },
        })
        await hand.mcp.tools(hand.server, never).catch(() => {})
        return await longestTurn(() => hand.mcp.call(hand.server, 'x', {}, never))
      })
      expect(longest).toBeLessThan(LIMIT_MS)
    })
  }
})

verifies(rule, 'web_fetch: a page is neither joined nor decoded here', async () => {
  // More than the contract's 5 MiB: joining and decoding those takes 35 ms, which any other work may take too. These take
  // 170, and 15 where the page goes to its reader as it came.
  const page = Buffer.from(`<!doctype html><title>T</title><body>${'<p>ünordinary words</p>'.repeat(1.3 * MIB)}`)
  await using web = await startWebServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  await using outbound = createOutbound({
    policy: 'standard',
    allow: [{ kind: 'range', address: '127.0.0.0', prefix: 8, family: 'ipv4' }],
  })
  // Time to receive it all; whether its reader is done by then does not matter.
  const limits = { timeoutMs: 5000, maxPageBytes: 64 * MIB, maxBytes: MIB, redirects: 0 }
  const measure = () => longestTurn(() => fetchPage({ outbound, of: '' }, web.url, never, limits))
  expect(await leastOfSeveral(60, measure)).toBeLessThan(60)
})

verifies('contract-18.livez', 'names of approvals among many tools', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`)
  const toolNames = Array.from({ length: 20_000 }, (_, index) => `t${index}`)
  const configured = {
    httpTools: [],
    mcpServers: [{ id: 's', name: 's', toolNames }],
    builtInToolIds: [],
    agentTools: [],
  }
  const longest = await leastOfSeveral(LIMIT_MS, () => longestTurn(async () => workOutNames(names, configured)))
  expect(longest).toBeLessThan(LIMIT_MS)
})
