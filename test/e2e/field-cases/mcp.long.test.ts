/** How MCP servers slip, by the reports of others' users: the tool and its good result stay. */
import { expect, test } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import { newSession } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'
import { asMcp, callsFor, type McpAnswer, openField, startServer } from './field.ts'

const field = await openField()
const { up, product, ask, chooses, make, told } = field
let number = 0

/** Makes a server that answers so. Returns its record, and what is listed of its tools. */
async function addServer(answer: McpAnswer, name = `hand${++number}`) {
  const http = await startServer(asMcp(answer))
  const { id } = await make('/api/v1/mcp-servers', { name, transport: 'streamable_http', url: `${http.url}/mcp` })
  const listed = await fetch(`${product.url}/api/v1/mcp-servers/${id}/tools`)
  return { id, name, listed: Object(await listed.json()) }
}

const good = { name: 'good', inputSchema: { type: 'object' } }
const introduced = {
  result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'hand', version: '1' } },
}
const unknown = { error: { code: -32_601, message: 'Method not found' } }

/** Answers by method; what is not given is as a good server has it. */
const server =
  (given: Record<string, McpAnswer>): McpAnswer =>
  (method, params, response) => {
    const own = given[method]
    if (own) return own(method, params, response)
    if (method === 'initialize') return introduced
    return method === 'tools/list' ? { result: { tools: [good] } } : unknown
  }

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name)

test.each<[string, Record<string, McpAnswer>]>([
  ['nextCursor: null', { 'tools/list': () => ({ result: { tools: [good], nextCursor: null } }) }],
  ['annotations: null', { 'tools/list': () => ({ result: { tools: [{ ...good, annotations: null }] } }) }],
  [
    'capabilities.prompts: null',
    { initialize: () => ({ result: { ...introduced.result, capabilities: { tools: {}, prompts: null } } }) },
  ],
  ['no version of its own', { initialize: () => ({ result: { ...introduced.result, serverInfo: { name: 'hand' } } }) }],
])('%s costs no tool', async (_, given) => {
  expect(namesOf((await addServer(server(given))).listed)).toEqual(['good'])
})

verifies('contract-35.tool-pages', 'pages that fail or go round keep what was listed', async () => {
  const fails = server({
    'tools/list': (_, { cursor }) =>
      cursor ? { error: { code: -32_603, message: 'broken' } } : { result: { tools: [good], nextCursor: 'b' } },
  })
  const circles = server({ 'tools/list': () => ({ result: { tools: [good], nextCursor: 'a' } }) })
  for (const one of [fails, circles]) {
    const { listed } = await addServer(one)
    expect(namesOf(listed)).toEqual(['good'])
    expect(listed.warning).toEqual(expect.any(String))
  }
})

const text = { type: 'text', text: 'The good part.' }
test.each<[string, McpAnswer, string]>([
  ['an odd block', () => ({ result: { content: [{ type: 'error' }, text] } }), 'The good part.'],
  [
    'a picture without its type',
    () => ({ result: { content: [{ type: 'image', data: 'AA==' }, text] } }),
    'The good part.',
  ],
  ['a number as text', () => ({ result: { content: [text, { type: 'text', text: 5 }] } }), 'The good part.'],
  ['nulls', () => ({ result: { content: [text], structuredContent: null, isError: null } }), 'The good part.'],
  ['error: null beside a result', () => ({ error: null, result: { content: [text] } }), 'The good part.'],
  [
    '422 with an error in JSON-RPC',
    (_, __, response) => {
      response.writeHead(422, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No such table."}}')
      return null
    },
    'No such table.',
  ],
])('%s: the model reads what was said', async (_, answer, words) => {
  const { id, name } = await addServer(server({ 'tools/call': answer }))
  await chooses({ mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] })
  up.next(callsFor({ index: 0, id: 'c1', name: `${name}__good`, arguments: '{}' }))
  up.next(says('done'))
  await ask('x')
  expect(told()).toContain(words)
})

test('an approval holds for the tool of that server, whatever others are called', async () => {
  const called: string[] = []
  const wipe = (name: string) =>
    server({
      'tools/list': () => ({ result: { tools: [{ name: 'wipe', inputSchema: { type: 'object' } }] } }),
      'tools/call': () => {
        called.push(name)
        return { result: { content: [text] } }
      },
    })
  const [first, second] = [await addServer(wipe('first'), '客服'), await addServer(wipe('second'), '订单')]
  const both = [first, second].map(({ id }) => ({ mcpServerId: id, toolNames: ['*'] }))
  await chooses({ mcpServers: both, approvals: [{ mcpServerId: second.id, toolName: 'wipe' }] })
  const session = await newSession(product.url, field.agent)
  up.next(async (call) => {
    const names: string[] = call.body.tools.map((tool: { function: { name: string } }) => tool.function.name)
    await callsFor(...names.map((name, index) => ({ index, id: `c${index}`, name, arguments: '{}' })))(call)
  })
  up.next(says('done'))
  const messages = [{ role: 'user', content: 'Wipe both.' }]
  await make(`${session}/chat/completions`, { messages })
  expect(called).toEqual(['first'])
})
