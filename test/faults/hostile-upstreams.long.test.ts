/**
 * No hostile provider, tool or MCP server delays `/livez` of the whole server by more than 250 ms on a quiet machine
 * (contract section 18). A test machine is not quiet, so this measures the CPU time of the server's main thread while a
 * probe waits: on a quiet machine the probe waits no longer than that.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { onQuietMachine } from '../support/measures/longest-turn.ts'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import { addAgent, deployUrl, type Product, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const LONGEST_MS = 250
const MIB = 2 ** 20

let database: FreshDatabase
let up: Upstream
let product: Product
let agentId: string
beforeAll(async () => {
  database = await freshDatabase()
  up = await startUpstream()
  const env = { DATABASE_URL: database.url, SECRET_KEY: 'a', OUTBOUND_ALLOW: '127.0.0.1', PROVIDER_RETRIES: '0' }
  product = await startProduct({ direct: true, env })
  agentId = await addAgent(product, up.url)
})
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  await up.close()
  await database.drop()
})

/** CPU time of the server's main thread so far; wall time if the system does not report it. */
function processorMs(): number {
  try {
    return Number(readFileSync(`/proc/${product.pid}/task/${product.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

/** The longest wait of a probe during this work. */
async function longestWait(work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  const done = work().finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    const before = processorMs()
    const answer = await fetch(`${product.url}/livez`)
    expect(await answer.text()).toBe('{"status":"ok"}')
    longest = Math.max(longest, processorMs() - before)
    await delay(5)
  }
  await done
  return longest < LONGEST_MS ? longest : onQuietMachine(longest)
}

/** One stateless reply, read to its end. */
async function reply(): Promise<void> {
  const messages = [{ role: 'user', content: 'Go!' }]
  const stream = await openSse(`${deployUrl(product.url, agentId)}/chat/completions`, { messages, stream: true })
  await stream.rest()
}

/** Calls this tool once, then ends. */
function modelCalls(name: string, args: object): void {
  up.next(async (call) => {
    await call.toolCall({ name, arguments: JSON.stringify(args) }, 1000)
    await call.finish('tool_calls')
  })
  up.next(async (call) => {
    await call.text('done')
    await call.finish()
  })
}

async function choose(tools: object): Promise<void> {
  const { error } = await product.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [], mcpServers: [], builtInToolIds: [], ...tools },
  })
  if (error) throw new Error(JSON.stringify(error))
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function serve(handler: Handler) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    handler(request, response, body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const gzip = { 'content-encoding': 'gzip' }
const repeated = (text: string, bytes: number) => gzipSync(Buffer.alloc(bytes, text))
const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const piece = (args: string) => chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: args } }] })

describe('providers', () => {
  const answers: [string, Record<string, string>, () => string | Uint8Array][] = [
    ['300 MiB of blank lines in gzip', gzip, () => repeated('\n', 300 * MIB)],
    // As long as an event may be: its values are what costs.
    ['an event of 600,000 empty objects', {}, () => `data: {"choices":[${'{},'.repeat(600_000)}0]}\n\n`],
    ['200,000 small texts', {}, () => chunk({ content: 'x' }).repeat(200_000)],
    [
      'arguments that are whole again with each delta',
      {},
      () => piece(`{"a":"${'x'.repeat(MIB / 2)}`) + piece('"}').repeat(5000),
    ],
  ]
  for (const [name, headers, bytesOf] of answers) {
    verifies('contract-18.no-freeze', name, async () => {
      const bytes = bytesOf()
      up.next(async (call) => {
        call.open(headers)
        await call.raw(bytes)
        call.end()
      })
      expect(await longestWait(reply)).toBeLessThan(LONGEST_MS)
    })
  }
})

describe('tools', () => {
  const pages: [string, Record<string, string>, () => string | Uint8Array][] = [
    ['300 MiB of text in gzip', { 'content-type': 'text/plain', ...gzip }, () => repeated('word ', 300 * MIB)],
    ['5 MiB of nested elements', { 'content-type': 'text/html' }, () => '<b>'.repeat((5 * MIB) / 3)],
  ]
  for (const [name, headers, bytesOf] of pages) {
    verifies('contract-18.no-freeze', `HTTP tool and web_fetch: ${name}`, async () => {
      const bytes = bytesOf()
      let asked = 0
      await using server = await serve((_request, response) => {
        asked += 1
        response.writeHead(200, headers).end(bytes)
      })
      const toolName = `t${name.length}`
      const tool = await product.client.POST('/api/v1/http-tools', {
        body: { name: toolName, description: 'd', method: 'GET', url: server.url },
      })
      await choose({ httpToolIds: [tool.data?.id], builtInToolIds: ['web_fetch'] })
      modelCalls(toolName, {})
      expect(await longestWait(reply)).toBeLessThan(LONGEST_MS)
      modelCalls('web_fetch', { url: server.url })
      expect(await longestWait(reply)).toBeLessThan(LONGEST_MS)
      expect(asked).toBe(2)
    })
  }
})

describe('MCP servers', () => {
  const property = { anyOf: [{ type: 'string', minLength: 1, description: 'A value.' }, { type: 'null' }] }
  const properties = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, property]))
  const large = Array.from({ length: 40 }, (_, n) => ({
    name: `t${n}`,
    inputSchema: { type: 'object', title: `${n}`, properties },
  }))
  const evil = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } }
  const small = [{ name: 't0', inputSchema: { type: 'object' } }]
  const harmless = '{}'
  const blanks = repeated(' ', 300 * MIB)
  const servers: [string, object[], object, Record<string, string>, string | Uint8Array][] = [
    ['40 schemas of 30 KiB', large, {}, {}, harmless],
    ['a pattern that never ends', [{ name: 't0', inputSchema: evil }], { text: `${'a'.repeat(60)}!` }, {}, harmless],
    ['300 MiB of blanks in gzip', small, {}, gzip, blanks],
    ['a result of a million empty objects', small, {}, {}, `{"result":[${'{},'.repeat(1.3 * MIB)}0]}`],
  ]
  for (const [index, [name, tools, args, headers, result]] of servers.entries()) {
    verifies('contract-18.no-freeze', name, async () => {
      const asked: string[] = []
      await using server = await serve((request, response, body) => {
        if (request.method !== 'POST') return void response.writeHead(405).end()
        const { id, method } = JSON.parse(body)
        asked.push(method)
        if (id === undefined) return void response.writeHead(202).end()
        const json = { 'content-type': 'application/json' }
        if (method === 'tools/call') return void response.writeHead(200, { ...json, ...headers }).end(result)
        response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(method, tools) }))
      })
      const made = await product.client.POST('/api/v1/mcp-servers', {
        body: { name: `s${index}`, transport: 'streamable_http', url: server.url },
      })
      await choose({ mcpServers: [{ mcpServerId: made.data?.id, toolNames: ['*'] }] })
      modelCalls(`s${index}__t0`, args)
      expect(await longestWait(reply)).toBeLessThan(LONGEST_MS)
      // A call may be refused because of its schema.
      expect(asked).toContain(result === harmless ? 'tools/list' : 'tools/call')
    })
  }
})

function answerTo(method: string, tools: object[]): object {
  if (method === 'tools/list') return { result: { tools } }
  if (method !== 'initialize') return { error: { code: -32_601, message: 'Method not found' } }
  const serverInfo = { name: 'hand', version: '1' }
  return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }
}
