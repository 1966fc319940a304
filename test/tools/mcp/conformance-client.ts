/**
 * The client that the MCP conformance suite drives: `node conformance-client.ts <server url>`, with the scenario's name
 * in MCP_CONFORMANCE_SCENARIO. Lists the server's tools as a reply would, calls each, and disconnects.
 */
import { createMcp } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'

const args: Record<string, Record<string, unknown>> = { add_numbers: { a: 5, b: 3 } }

const [, , url = ''] = process.argv
await using outbound = createOutbound({ policy: 'standard', allow: [] })
const log = { warn: (details: object, message: string) => console.error(message, details) }
await using mcp = createMcp({ outbound, log })
const server = { id: 's', name: 's', transport: 'streamable_http', url, headers: {}, version: '1' } as const
const { signal } = new AbortController()
for (const { name } of await mcp.tools(server, signal)) {
  const result = await mcp.call(server, name, args[name] ?? {}, signal)
  console.log(result.content)
  if (!result.ok) process.exitCode = 1
}
