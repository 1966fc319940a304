/** What MCP servers ask the user while a tool runs (elicitation). */
import { expect } from 'vitest'
import { createMcp, type McpServer } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { serverKinds, startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'

const never = new AbortController().signal
const complete = {
  properties: { name: { type: 'string', default: 'Ann' }, age: { type: 'integer' } },
  required: ['name'],
}
const open = { properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }

for (const kind of serverKinds) {
  const transport = kind.startsWith('sse') ? 'sse' : 'streamable_http'

  async function asks(form: Record<string, unknown>, answerDefaults: string[]) {
    await using host = await startMcpServer(kind)
    await using outbound = createOutbound({ policy: 'standard', allow: [] })
    const lines: [object, string][] = []
    const log = { warn: (details: object, message: string) => void lines.push([details, message]) }
    await using mcp = createMcp({ outbound, log, answerDefaults })
    const headers = { authorization: 'Bearer s3cret-s3cret' }
    const server: McpServer = { id: 'a', name: 'Asks', version: '1', url: host.url, headers, transport }
    const { ok, content } = await mcp.call(server, 'ask', form, never)
    return { ok, content, lines }
  }

  verifies('contract-6.mcp', `${kind}: a server is told that it cannot ask`, async () => {
    for (const hosts of [[], ['127.0.0.2', 'localhost']]) {
      const { ok, content, lines } = await asks(complete, hosts)
      expect([ok, lines]).toEqual([false, []])
      expect(content).toMatch(/elicitation|input_required|method not found/i)
    }
  })

  verifies(
    'contract-6.mcp',
    `${kind}: where its host is listed, a form that its defaults complete is accepted`,
    async () => {
      const { ok, content, lines } = await asks(complete, ['127.0.0.1'])
      expect(ok).toBe(true)
      const [capabilities, answer] = JSON.parse(content)
      expect(capabilities.elicitation).toEqual({ form: { applyDefaults: true } })
      expect(answer).toMatchObject({ action: 'accept', content: { name: 'Ann' } })
      expect(lines).toEqual([
        [expect.objectContaining({ mcpServer: 'Asks', action: 'accept' }), expect.stringMatching(/^A question/)],
      ])
      expect(JSON.stringify(lines)).not.toContain('s3cret')
    },
  )

  verifies('contract-6.mcp', `${kind}: there, a form with a field to fill in is declined`, async () => {
    const { ok, content, lines } = await asks(open, ['127.0.0.1'])
    expect(ok).toBe(true)
    expect(JSON.parse(content)[1]).toMatchObject({ action: 'decline' })
    expect(lines[0]?.[0]).toMatchObject({ action: 'decline', question: expect.stringMatching(/^Delete 3 files/) })
  })
}
