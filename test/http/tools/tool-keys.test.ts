/** The key that each tool call carries (contract section 10), at the servers that get it. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { serverKinds, startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { asks, openToolScene, says, startToolServer, type ToolRequest, type ToolScene } from '../tool-scene.ts'

let scene: ToolScene
beforeAll(async () => {
  scene = await openToolScene()
})
beforeEach(() => scene.choose({}))
afterAll(() => scene.close())

const keyOf = ({ request }: ToolRequest) => request.headers['idempotency-key']
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

verifies('contract-10.keys', 'all methods but GET carry it; n counts GETs, built-in and MCP tools too', async () => {
  await using shop = await startToolServer(() => 'done')
  await using mcp = await startMcpServer('streamable_http, new era')
  const ids = methods.map((method) => scene.createTool({ name: `do_${method}`, url: `${shop.url}/${method}`, method }))
  const mcpServerId = await scene.createMcpServer({ name: 'far', url: mcp.url })
  await scene.choose({
    httpToolIds: await Promise.all(ids),
    mcpServers: [{ mcpServerId, toolNames: ['echo'] }],
    builtInToolIds: ['current_time'],
  })
  const call = (name: string, args: object = {}) => ({ name, arguments: JSON.stringify(args) })
  scene.up.next(asks('', call('current_time'), call('do_GET'), call('do_POST'), call('far__echo', { text: 'x' })))
  scene.up.next(asks('', call('do_PUT'), call('do_PATCH'), call('do_DELETE')))
  scene.up.next(says('Done.'))
  const session = await scene.newSession()
  await scene.send(session, 'Act!')
  const [, reply] = await scene.messages(session)
  const keys = new Map(shop.requests.map((one) => [one.method, keyOf(one)]))
  expect(Object.fromEntries(keys)).toEqual({
    GET: undefined,
    POST: `${reply.id}:3`,
    PUT: `${reply.id}:5`,
    PATCH: `${reply.id}:6`,
    DELETE: `${reply.id}:7`,
  })
  expect(mcp.keys).toEqual([`${reply.id}:4`])
})

for (const kind of serverKinds) {
  verifies('contract-10.keys', `in _meta of MCP calls: ${kind}`, async () => {
    await using mcp = await startMcpServer(kind)
    const transport = kind.startsWith('sse') ? 'sse' : 'streamable_http'
    const mcpServerId = await scene.createMcpServer({ name: crypto.randomUUID(), url: mcp.url, transport })
    await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['echo'] }] })
    scene.up.next((call) => {
      const [{ function: echo }] = call.body.tools
      return asks('', { name: echo.name, arguments: '{"text":"x"}' })(call)
    })
    scene.up.next(says('Done.'))
    const session = await scene.newSession()
    await scene.send(session, 'Act!')
    const [, reply] = await scene.messages(session)
    expect(mcp.keys).toEqual([`${reply.id}:1`])
  })
}

verifies('contract-10.keys', 'a stateless completion has its own id in it', async () => {
  await using shop = await startToolServer(() => 'done')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'buy', url: shop.url, method: 'POST' })] })
  scene.up.next(asks('', { name: 'buy', arguments: '{}' }))
  scene.up.next(says('Bought.'))
  const { json } = await scene.stateless([{ role: 'user', content: 'Buy!' }])
  const [id = ''] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(json.id) ?? []
  expect(shop.requests.map(keyOf)).toEqual([`${id}:1`])
})

verifies('contract-10.keys', 'a header of that name in the tool’s own configuration wins, in any case', async () => {
  await using shop = await startToolServer(() => 'done')
  const inputSchema = { type: 'object', properties: { order: { type: 'string' } } }
  const headers = { 'IDEMPOTENCY-KEY': 'order-{{order}}' }
  const own = await scene.createTool({ name: 'buy', url: shop.url, method: 'POST', headers, inputSchema })
  await scene.choose({ httpToolIds: [own] })
  scene.up.next(asks('', { name: 'buy', arguments: '{"order":"7"}' }))
  scene.up.next(says('Bought.'))
  await scene.send(await scene.newSession(), 'Buy!')
  expect(shop.requests.map(keyOf)).toEqual(['order-7'])
})

verifies('contract-10.keys', 'a redirect to another origin takes it off, one to the same origin does not', async () => {
  const redirect = (location: (path: string) => string) => (one: ToolRequest) => {
    if (one.url.pathname === '/end') return 'done'
    one.response.statusCode = 307
    one.response.setHeader('location', location(one.url.pathname))
    return ''
  }
  await using other = await startToolServer(() => 'done')
  await using shop = await startToolServer(redirect((path) => (path === '/same' ? '/end' : `${other.url}/end`)))
  await using closing = new AsyncDisposableStack()
  const open = await openToolScene({ settings: { OUTBOUND_ALLOW: new URL(other.url).host } })
  closing.defer(() => open.close())
  const tools = ['same', 'other'].map((name) =>
    open.createTool({ name, url: `${shop.url}/${name}`, method: 'POST', headers: { 'X-Own': '1' } }),
  )
  await open.choose({ httpToolIds: await Promise.all(tools) })
  open.up.next(asks('', { name: 'same', arguments: '{}' }, { name: 'other', arguments: '{}' }))
  open.up.next(says('Done.'))
  const session = await open.newSession()
  await open.send(session, 'Act!')
  const [, reply] = await open.messages(session)
  const seen = Object.fromEntries(shop.requests.map((one) => [one.url.pathname, keyOf(one)]))
  expect(seen).toEqual({ '/same': `${reply.id}:1`, '/end': `${reply.id}:1`, '/other': `${reply.id}:2` })
  expect(other.requests.map(keyOf)).toEqual([undefined])
})
