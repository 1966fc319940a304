/** Words that stand in `WWW-Authenticate` alone reach the model (contract section 35). */
import { expect } from 'vitest'
import { callHttpTool } from '../../../src/tools/http-tools/http-tool.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { verifies } from '../../verifies.ts'
import { serve, unknown } from '../mcp/mcp-by-hand.ts'
import { startWebServer } from '../web-server.ts'

const never = new AbortController().signal
const challenge =
  'Bearer realm="api", error="invalid_token", error_description="The access token \\"a\\" expired at noon", scope="x"'
const words = 'invalid_token: The access token "a" expired at noon'

async function told(status: number, headers: Record<string, string>, text: string): Promise<string> {
  await using server = await startWebServer((_, response) => response.writeHead(status, headers).end(text))
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  const record = { id: 't', name: 't', description: '', method: 'GET', headers: {}, body: null, inputSchema: null }
  return (await callHttpTool(outbound, { ...record, url: server.url }, {}, never)).content
}

verifies('contract-35.challenge', 'of an HTTP tool', async () => {
  for (const status of [401, 403]) expect(await told(status, { 'www-authenticate': challenge }, '')).toContain(words)
  expect(await told(401, { 'www-authenticate': challenge }, 'no')).toBe('Status 401 Unauthorized\n\nno')
  expect(await told(401, { 'www-authenticate': 'Basic realm="x"' }, '')).not.toContain('realm')
  expect(await told(400, { 'www-authenticate': challenge }, '')).not.toContain('noon')
})

verifies('contract-35.challenge', 'of an MCP server', async () => {
  for (const transport of ['streamable_http', 'sse'] as const) {
    for (const [text, said] of [
      ['', words],
      ['no', ': no'],
    ] as const) {
      const refusal = { status: 401, text, headers: { 'www-authenticate': challenge } }
      await using hand = await serve((method) => (method === 'tools/call' ? refusal : unknown), { transport })
      const { ok, content } = await hand.mcp.call(hand.server, 'look', {}, never)
      expect([ok, content]).toEqual([false, expect.stringContaining(said)])
    }
  }
})
