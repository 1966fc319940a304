/** The outbound guard's part of "only under a valid lease" (contract section 10): checked when a request is sent. */
import { expect } from 'vitest'
import type { ToolCall } from '../../../src/actors/ports/index.ts'
import { createMcp } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { createToolbox, type ToolboxConfig } from '../../../src/tools/toolbox.ts'
import { serverKinds, startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { toolboxConfig } from '../toolbox-config.ts'
import { startWebServer } from '../web-server.ts'

const call = (name: string, args: object = {}): ToolCall => ({ id: '1', name, arguments: JSON.stringify(args) })
const tool = (url: string, method = 'POST') => ({
  id: 't',
  name: 'act',
  description: '',
  method,
  url,
  headers: {},
  body: null,
  inputSchema: null,
})

/** A reply whose lease ends when `when` returns true; called before each request is sent. */
function leased(when: (sent: number) => boolean = () => true) {
  const reply = new AbortController()
  let armed = false
  let sent = 0
  const outbound = createOutbound({
    policy: 'standard',
    allow: [{ kind: 'host', host: '127.0.0.1', port: null }],
    beforeSend() {
      if (armed && when(++sent)) reply.abort(new Error('the lease is over'))
    },
  })
  const mcp = createMcp({ outbound, log: { warn() {} } })
  return {
    outbound,
    signal: reply.signal,
    arm() {
      armed = true
    },
    toolbox: (config: Partial<ToolboxConfig>) =>
      createToolbox(toolboxConfig(config), { outbound, mcp, log: { warn() {} } }),
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]()
      await outbound[Symbol.asyncDispose]()
    },
  }
}

verifies('contract-10.lease', 'an HTTP tool and web_fetch send nothing, even on an open connection', async () => {
  await using server = await startWebServer((_, response) => response.end('done'))
  for (const [name, args] of [
    ['act', {}],
    ['web_fetch', { url: server.url }],
  ] as const) {
    await using reply = leased()
    const box = await reply.toolbox({ httpTools: [tool(server.url)], builtInToolIds: ['web_fetch'] })
    reply.arm()
    await expect(box.call(call(name, args), reply.signal, 'r:1')).rejects.toThrow('the lease is over')
  }
  expect(server.connections.opened).toBe(2)
  expect(server.requests).toEqual([])
})

verifies('contract-10.lease', 'a redirect is no longer followed', async () => {
  await using server = await startWebServer((request, response) => {
    if (request.url === '/') response.writeHead(307, { location: '/charge' }).end()
    else response.end('charged')
  })
  await using reply = leased((sent) => sent === 2)
  const box = await reply.toolbox({ httpTools: [tool(server.url)] })
  reply.arm()
  await expect(box.call(call('act'), reply.signal, 'r:1')).rejects.toThrow('the lease is over')
  expect(server.requests.map(({ path }) => path)).toEqual(['/'])
})

verifies('contract-10.lease', 'a provider is not called', async () => {
  await using server = await startWebServer((_, response) => response.end('{}'))
  await using reply = leased()
  reply.arm()
  const init = { method: 'POST', headers: {}, body: '{}', signal: reply.signal }
  await expect(reply.outbound.call(server.url, init)).rejects.toThrow('the lease is over')
  expect(server.requests).toEqual([])
})

for (const kind of serverKinds) {
  verifies('contract-10.lease', `an MCP tool is not called: ${kind}`, async () => {
    await using server = await startMcpServer(kind)
    await using reply = leased()
    const transport = kind.startsWith('sse') ? ('sse' as const) : ('streamable_http' as const)
    const mcpServer = { id: 's', name: 's', transport, url: server.url, headers: {}, version: '1' }
    const box = await reply.toolbox({ mcpServers: [{ server: mcpServer, toolNames: ['*'] }] })
    reply.arm()
    await expect(box.call(call('s__echo', { text: 'x' }), reply.signal, 'r:1')).rejects.toThrow('the lease is over')
    expect(server.calls).toEqual([])
  })
}
