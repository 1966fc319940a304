/** The tools of an MCP server, from its record to the model and back (contract section 6). */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asks, openToolScene, says, told } from '../tool-scene.ts'

const scene = await openToolScene()
afterAll(scene.close)

/** A server without sessions that asks for a key and tells its two tools. */
async function startMcpServer(key: string) {
  const server = createServer(async (request, response) => {
    if (request.headers['x-api-key'] !== key) return response.writeHead(401).end()
    const mcp = new McpServer({ name: 'stage', version: '1' })
    mcp.registerTool('sing', { description: 'Sings.' }, () => ({ content: [{ type: 'text', text: 'la la' }] }))
    mcp.registerTool('fall.down', { description: 'Falls.' }, () => {
      throw new Error('ouch')
    })
    const transport = new StreamableHTTPServerTransport({})
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]) // its own types miss exactOptionalPropertyTypes
    await transport.handleRequest(request, response)
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

verifies(
  ['contract-2.mcp-tools', 'contract-6.loop', 'contract-5.tool-arrays'],
  'discovered, chosen, offered as <server>__<tool>, called with its secret header',
  async () => {
    await using server = await startMcpServer('s3cret')
    const mcpServerId = await scene.createMcpServer({
      name: 'stage',
      url: server.url,
      headers: { 'X-Api-Key': 's3cret' },
    })
    const discovered = await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
    expect(discovered.json.tools).toMatchObject([
      { name: 'sing', description: 'Sings.', inputSchema: { type: 'object' } },
      { name: 'fall.down', description: 'Falls.' },
    ])
    await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
    // A name that had to be changed ends in six digits of the tool.
    const digits = createHash('sha256').update(`mcp:${mcpServerId}:fall.down`).digest('hex').slice(0, 6)
    const fallDown = `stage__fall_down_${digits}`
    scene.up.next(asks('', { name: 'stage__sing', arguments: '' }, { name: fallDown, arguments: '{}' }))
    scene.up.next(says('Bravo.'))
    const { frames } = await (await scene.chat({ message: 'Sing!' })).rest()
    const [sing, fall, ...rest] = told(frames)
    expect([sing, fall]).toMatchObject([
      ['tool_call', { name: 'stage__sing' }],
      ['tool_call', { name: fallDown }],
    ])
    const results = [
      { ok: true, content: 'la la' },
      { ok: false, content: expect.stringContaining('ouch') },
    ].map((result) => ['tool_result', expect.objectContaining(result)])
    expect(rest.slice(0, 2)).toEqual(expect.arrayContaining(results)) // they run side by side
    expect(rest.slice(2)).toEqual(['Bravo.'])
    scene.up.next(says('One only.'))
    const before = scene.up.calls.length
    await (await scene.chat({ message: 'Sing!', mcpServers: [{ mcpServerId, toolNames: ['sing'] }] })).rest()
    const { tools } = (await scene.up.call(before + 1)).body
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['stage__sing'])
  },
)

verifies(
  'contract-2.mcp-tools',
  'a server that cannot be reached, or refuses, is 502 without its secrets',
  async () => {
    await using server = await startMcpServer('s3cret')
    for (const [url, key] of [
      ['http://127.0.0.1:1/mcp', 'wr0ng'],
      [server.url, 'wr0ng'],
    ] as const) {
      const id = await scene.createMcpServer({ name: 'stage', url, headers: { 'X-Api-Key': key } })
      const { status, text } = await scene.call('GET', `/api/v1/mcp-servers/${id}/tools`)
      expect([status, text]).toEqual([502, expect.stringMatching(/^\{"message":/)])
      expect(text).not.toContain('wr0ng')
    }
  },
)
