/** MCP servers that ask outside of a reply in a session are told that nobody can be asked (contract section 27). */
import { expect } from 'vitest'
import { createMcp, type McpServer } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { serverKinds, startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'

const never = new AbortController().signal

for (const kind of serverKinds) {
  const transport = kind.startsWith('sse') ? 'sse' : 'streamable_http'

  verifies(['contract-6.mcp', 'contract-27.declared'], `${kind}: a server is told that it cannot ask`, async () => {
    await using host = await startMcpServer(kind)
    await using outbound = createOutbound({ policy: 'standard', allow: [] })
    await using mcp = createMcp({ outbound, log: { warn() {} } })
    const server: McpServer = { id: 'a', name: 'Asks', version: '1', url: host.url, headers: {}, transport }
    for (const mayAsk of [false, kind.includes('old')]) {
      const { ok, content, asks } = await mcp.call(server, 'ask', {}, never, { key: 'k', mayAsk })
      expect([ok, asks]).toEqual([false, undefined])
      expect(content).toMatch(/elicitation|nobody can be asked|method not found/i)
    }
  })
}
