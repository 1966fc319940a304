/** MCP servers that ask outside of a reply in a session are told that nobody can be asked (contract section 27). */
import { expect } from 'vitest'
import { type CallOf, createMcp, type McpServer } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { serverKinds, startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { serve } from './mcp-by-hand.ts'

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

verifies(
  'contract-27.questions',
  'an older server that wants a page visited first is called again after that',
  async () => {
    let visits = 0
    const page = { mode: 'url', message: 'Sign here.', url: 'https://example.com/sign', elicitationId: 'e1' }
    await using hand = await serve((method) => {
      if (method !== 'tools/call') return { result: { tools: [] } }
      visits += 1
      if (visits > 1) return { result: { content: [{ type: 'text', text: 'signed' }] } }
      return { error: { code: -32_042, message: 'Visit a page first.', data: { elicitations: [page] } } }
    })
    const call = (of: CallOf) => hand.mcp.call(hand.server, 'sign', {}, never, of)
    const refused = await call({ key: 'k', mayAsk: true })
    expect(refused.asks).toEqual({ questions: [{ key: 'e1', message: 'Sign here.', url: 'https://example.com/sign' }] })
    const again = (decision: 'answer' | 'decline') => ({ of: '', answers: [{ key: 'e1', decision }] })
    expect(await call({ key: 'k', mayAsk: true, again: again('decline') })).toMatchObject({ ok: false })
    expect(visits).toBe(1)
    const done = await call({ key: 'k', mayAsk: true, again: again('answer') })
    expect([done.ok, done.content, visits]).toEqual([true, 'signed', 2])
  },
)
