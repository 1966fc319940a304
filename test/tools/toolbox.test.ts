/** The tools of a reply: names, argument checks, failures as results, dead servers (contract section 6). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HttpTool } from '../../src/tools/http-tools/http-tool.ts'
import { createMcp, type Mcp, type McpServer, type McpTool } from '../../src/tools/mcp/mcp.ts'
import { plainName } from '../../src/tools/naming/tool-names.ts'
import { createOutbound, type Outbound } from '../../src/tools/outbound/outbound.ts'
import { createToolbox, type ToolboxConfig, type ToolboxWorld } from '../../src/tools/toolbox.ts'
import { startMcpServer } from '../support/network/mcp-servers.ts'
import { verifies } from '../verifies.ts'
import { toolboxConfig } from './toolbox-config.ts'

const never = new AbortController().signal

let outbound: Outbound
let lines: [object, string][]
const log = { warn: (details: object, message: string) => void lines.push([details, message]) }

beforeEach(() => {
  lines = []
  outbound = createOutbound({ policy: 'standard', allow: [] })
})
afterEach(() => outbound[Symbol.asyncDispose]())

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const api = createServer((request, response) =>
  response.end(request.url === '/png' ? png : `${request.method} ${request.url}`),
)
let origin: string
beforeAll(async () => {
  await once(api.listen(0, '127.0.0.1'), 'listening')
  const address = api.address()
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})
afterAll(() => {
  api.closeAllConnections()
  api.close()
})

const httpTool = (name: string, changes: Partial<HttpTool> = {}): HttpTool => ({
  id: name,
  name,
  description: `About ${name}.`,
  method: 'GET',
  url: `${origin}/x`,
  headers: {},
  body: null,
  inputSchema: null,
  ...changes,
})

const server = (name: string, url = 'http://127.0.0.1:9/mcp'): McpServer => ({
  id: name,
  name,
  transport: 'streamable_http',
  url,
  headers: {},
  version: '1',
})

/** Servers that offer tools with these names. A call returns what was called. */
const mcpOf = (offers: Record<string, string[]>): Pick<Mcp, 'toolsWithin' | 'call'> => ({
  toolsWithin: async (_ms, { name }) =>
    (offers[name] ?? []).map((tool): McpTool => ({ name: tool, description: '', inputSchema: { type: 'object' } })),
  call: async ({ name }, tool, args) => ({ ok: true, content: `${name}/${tool} ${JSON.stringify(args)}` }),
})

const toolbox = (config: Partial<ToolboxConfig>, mcp: ToolboxWorld['mcp'] = mcpOf({})) =>
  createToolbox(toolboxConfig(config), { outbound, mcp, log }, never)

const call = (name: string, args = '{}') => ({ id: '1', name, arguments: args })

describe('names', () => {
  test.each([
    ['get_weather-2', 'get_weather-2'],
    ['Get the weather!', 'Get_the_weather_'],
    ['wetter.für', 'wetter_f_r'],
    ['a😀b', 'a_b'],
    ['e\u0301', 'e_'],
    ['👩‍🚀', '___'],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['😀'.repeat(200), '_'.repeat(64)],
    [`${'x'.repeat(63)}😀😀`, `${'x'.repeat(63)}_`],
  ])('%s is %s', (name, plain) => {
    expect(plainName(name)).toBe(plain)
  })
})

test('an MCP server’s selected tools are offered; * means all, an empty list none', async () => {
  const offers = mcpOf({ s: ['a', 'b', 'c'] })
  const named = async (toolNames: string[]) =>
    (await toolbox({ mcpServers: [{ server: server('s'), toolNames }] }, offers)).tools.map(({ name }) => name)
  expect(await named(['c', 'a', 'gone'])).toEqual(['s__a', 's__c'])
  expect(await named(['*', 'a'])).toEqual(['s__a', 's__b', 's__c'])
  expect(await named([])).toEqual([])
})

test('a tool without a schema is offered as taking any object', async () => {
  const box = await toolbox({ httpTools: [httpTool('a'), httpTool('b', { inputSchema: { required: ['x'] } })] })
  expect(box.tools.map(({ inputSchema }) => inputSchema)).toEqual([
    { type: 'object', properties: {} },
    { type: 'object', properties: {}, required: ['x'] },
  ])
})

describe('calls', () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

  verifies('contract-6.arguments', 'arguments reach the tool', async () => {
    const box = await toolbox({ httpTools: [httpTool('a', { inputSchema })] })
    const { ok, content } = await box.call(call('a', '{"n":4}'), never, 'r:1')
    expect(ok).toBe(true)
    expect(content).toContain('GET /x?n=4')
  })

  test.each([
    ['no JSON', '{"n":', /^a was not called: the arguments are not valid JSON/],
    ['a list', '[1]', /^a was not called: the arguments are not a JSON object\.$/],
    ['null', 'null', /^a was not called: the arguments are not a JSON object\.$/],
    ['what does not fit', '{"n":"x"}', /^a was not called: arguments\/n must be number\.$/],
    ['nothing, where something is needed', '', /^a was not called: arguments must have required property 'n'\.$/],
  ])('%s gives a result that says so, and nothing is called', async (_name, args, reason) => {
    const box = await toolbox({ httpTools: [httpTool('a', { inputSchema, url: 'http://127.0.0.1:9/' })] })
    const result = await box.call(call('a', args), never, 'r:1')
    expect(result.ok).toBe(false)
    expect(result.content).toMatch(reason)
  })

  test('empty text means no arguments', async () => {
    const box = await toolbox({ httpTools: [httpTool('a')] })
    expect((await box.call(call('a', ' '), never, 'r:1')).ok).toBe(true)
  })

  verifies('contract-25.tool-pictures', 'the picture of an HTTP tool comes with its result', async () => {
    const box = await toolbox({ httpTools: [httpTool('a'), httpTool('b', { url: `${origin}/png` })] })
    expect(await box.call(call('a'), never, 'r:1')).toEqual({ ok: true, content: 'Status 200 OK\n\nGET /x' })
    expect(await box.call(call('b'), never, 'r:2')).toMatchObject({
      content: 'Status 200 OK\n\n[image: image/png, 8 bytes]',
      pictures: [{ mediaType: 'image/png', size: 8 }],
    })
  })

  verifies('contract-6.failing-tools', 'an unknown tool gives a result that says so', async () => {
    const box = await toolbox({ httpTools: [httpTool('a')] })
    for (const name of ['b', '__proto__', '']) {
      expect(await box.call(call(name), never, 'r:1')).toEqual({
        ok: false,
        content: `There is no tool named ${name}.`,
      })
    }
  })

  verifies('contract-6.failing-tools', 'a tool that fails gives a result; an abort rejects', async () => {
    const refused = await toolbox({ httpTools: [httpTool('a', { url: 'http://127.0.0.1:9/' })] })
    expect((await refused.call(call('a'), never, 'r:1')).ok).toBe(false)
    const broken = { ...mcpOf({ s: ['t'] }), call: () => Promise.reject(new Error('a fault of ours')) }
    const box = await toolbox({ mcpServers: [{ server: server('s'), toolNames: ['*'] }] }, broken)
    expect(await box.call(call('s__t'), never, 'r:1')).toEqual({ ok: false, content: 's__t failed.' })
    const stopped = AbortSignal.abort(new Error('cancelled'))
    await expect(box.call(call('s__t'), stopped, 'r:1')).rejects.toThrow('cancelled')
  })
})

describe('dead MCP servers', () => {
  verifies(
    'contract-6.dead-server',
    'a reply continues without them: one refuses, one is silent, a third works',
    async () => {
      const silent = createTcpServer((socket) => void socket.on('error', () => {}))
      await once(silent.listen(0, '127.0.0.1'), 'listening')
      const address = silent.address()
      const port = typeof address === 'object' ? address?.port : 0
      await using alive = await startMcpServer('streamable_http, new era')
      await using mcp = createMcp({ outbound, log })
      const gone = await startMcpServer('streamable_http, new era')
      await gone[Symbol.asyncDispose]()
      const all = [
        server('refused', gone.url),
        server('silent', `http://127.0.0.1:${port}/mcp`),
        { ...server('silent-sse', `http://127.0.0.1:${port}/mcp`), transport: 'sse' as const },
        server('alive', alive.url),
      ]
      const mcpServers = all.map((server) => ({ server, toolNames: ['*'] }))
      const box = await toolbox({ mcpServers }, mcp)
      expect([...new Set(box.tools.map(({ name }) => name.split('__')[0]))]).toEqual(['alive'])
      expect(lines.map(([details]) => details)).toEqual([
        expect.objectContaining({ mcpServer: 'refused', reason: expect.stringContaining('connection refused') }),
        expect.objectContaining({ mcpServer: 'silent', reason: 'no list of tools within 3 s' }),
        expect.objectContaining({ mcpServer: 'silent-sse', reason: 'no list of tools within 3 s' }),
      ])
      silent.close()
    },
  )

  test('a reply stopped while it waits for a list does not continue', async () => {
    const waiting = {
      ...mcpOf({}),
      toolsWithin: (_ms: number, _server: McpServer, signal: AbortSignal) =>
        once(signal, 'abort').then(() => Promise.reject(signal.reason)),
    }
    const stop = new AbortController()
    const box = createToolbox(
      toolboxConfig({ mcpServers: [{ server: server('s'), toolNames: ['*'] }] }),
      { outbound, mcp: waiting, log },
      stop.signal,
    )
    stop.abort(new Error('cancelled'))
    await expect(box).rejects.toThrow('cancelled')
  })
})

verifies(
  'contract-35.digits',
  'a call is made with the digits that the model wrote, and its schema is checked',
  async () => {
    const inputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
    const { call: make } = await toolbox({ httpTools: [httpTool('look', { inputSchema })] })
    const made = await make(call('look', '{"id":1917043659912705297,"price":1.50}'), never, 'k')
    expect(made.content).toContain('GET /x?id=1917043659912705297&price=1.50')
    expect((await make(call('look', '{"id":1.5}'), never, 'k')).content).toContain('arguments/id must be integer')
  },
)
