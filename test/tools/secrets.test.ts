/** Secret headers that a server sends back are neither shown nor logged (contract sections 3 and 6). */
import { expect, test } from 'vitest'
import { callHttpTool } from '../../src/tools/http-tools/http-tool.ts'
import { createOutbound } from '../../src/tools/outbound/outbound.ts'
import { createToolbox } from '../../src/tools/toolbox.ts'
import { removeSecrets, secretsInHeaders } from '../../src/untrusted/redact.ts'
import { verifies } from '../verifies.ts'
import { good, never, offers, serve, unknown } from './mcp/mcp-by-hand.ts'
import { toolboxConfig } from './toolbox-config.ts'
import { startWebServer } from './web-server.ts'

const password = 'pä/ss "word" 9'
const basic = `Basic ${Buffer.from(`ann:${password}`).toString('base64')}`
const headers = {
  authorization: 'Bearer s3cret-t0ken/of+ours',
  'x-api-key': 'k3y-of-ours',
  'proxy-authorization': basic,
  'x-team': 'blue',
}
const shown = /s3cret|k3y-of|p%C3%A4|p\u00e4|ss .?"word|c3MgIndvcmQi/i

/** Everything sent, in the forms in which servers send it back. */
const echoes = (sent: string[]): string =>
  sent
    .flatMap((text) => [
      text,
      JSON.stringify(text),
      encodeURIComponent(text),
      new URLSearchParams({ text }).toString(),
      Buffer.from(text).toString('base64'),
      Buffer.from(`x${text}`).toString('base64url'),
      Buffer.from(`xy${text}`).toString('base64'),
    ])
    .join('\n')

const sent = [headers.authorization, headers['x-api-key'], basic, password]

test('every form of a secret is removed, other headers and words are kept', () => {
  const cleared = removeSecrets(`${echoes(sent)}\nblue, the team`, secretsInHeaders(headers))
  expect(cleared).not.toMatch(shown)
  expect(cleared).toMatch(/blue, the team$/)
  expect(secretsInHeaders({ cookie: 'theme=on; sid=abcdefgh', 'x-key': 'fixed-part-{{user}}' })).toEqual([
    'theme=on; sid=abcdefgh',
    'sid=abcdefgh',
    'abcdefgh',
    'fixed-part-{{user}}',
    'fixed-part-',
  ])
  expect(removeSecrets('Send it as Bearer token.', secretsInHeaders({ authorization: 'Bearer {{token}}' }))).toBe(
    'Send it as Bearer token.',
  )
})

verifies('contract-3.provider-words', 'an HTTP tool that sends its headers back', async () => {
  await using web = await startWebServer((_request, response) => {
    const type = { 'content-type': 'text/plain' }
    response.writeHead(500, `No ${headers.authorization}`, type).end(`${echoes(sent)}\nthe end`)
  })
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  const tool = {
    id: 't',
    name: 't',
    description: '',
    method: 'GET',
    url: web.url,
    headers,
    body: null,
    inputSchema: null,
  }
  const { content, body } = await callHttpTool(outbound, tool, {}, never)
  expect(`${content}\n${body}`).not.toMatch(shown)
  expect(content).toMatch(/the end$/)
})

verifies('contract-3.provider-words', 'an MCP server that sends its headers back', async () => {
  const text = echoes(sent)
  await using hand = await serve(
    (method, { name }) => {
      if (method === 'tools/list') return { result: { tools: [good] } }
      if (name === 'error') return { error: { code: -32_000, message: text } }
      return method === 'tools/call' ? { result: { content: [{ type: 'text', text }] } } : unknown
    },
    { headers },
  )
  for (const name of ['good', 'error']) {
    expect((await hand.mcp.call(hand.server, name, {}, never)).content).not.toMatch(shown)
  }
  // A tool that is left out is logged, with its name and why.
  const named = { ...good, name: headers['x-api-key'], inputSchema: { type: 'object', $ref: headers.authorization } }
  await using offering = await serve(offers([good, named, named]), { headers })
  await offering.mcp.tools(offering.server, never)
  expect(offering.lines).toHaveLength(2)
  expect(JSON.stringify(offering.lines)).not.toMatch(shown)
  await using broken = await serve(() => ({ status: 500, text }), { headers })
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  const lines: unknown[] = []
  const log = { warn: (details: object) => void lines.push(details) }
  const mcpServers = [{ server: broken.server, toolNames: ['*'] }]
  await createToolbox(toolboxConfig({ mcpServers }), { outbound, mcp: broken.mcp, log })
  expect(lines).toHaveLength(1)
  const { inspect } = await import('node:util')
  expect(inspect(lines, { depth: 10, maxStringLength: null })).not.toMatch(shown)
})
