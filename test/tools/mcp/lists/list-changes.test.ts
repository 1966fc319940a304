/** A list of tools that changes while it is loaded, or fails (contract section 6). */
import { expect } from 'vitest'
import { createLists, type McpTool } from '../../../../src/tools/mcp/lists/mcp-lists.ts'
import type { McpServer } from '../../../../src/tools/mcp/mcp-transport.ts'
import { verifies } from '../../../verifies.ts'
import { good, never, serve, unknown } from '../mcp-by-hand.ts'

const server: McpServer = {
  ...{ id: 's', name: 's', transport: 'sse', url: 'https://a.test/', headers: {}, version: '1' },
}
const toolsOf = (name: string): McpTool[] => [{ name, description: '', inputSchema: { type: 'object' } }]

/** Lists whose loads end by hand. */
function listsByHand() {
  const loads: { asking(): void; end(name: string): void; fail(): void }[] = []
  const lists = createLists((_, asking) => {
    const { promise, resolve, reject } = Promise.withResolvers<McpTool[]>()
    loads.push({ asking, end: (name) => resolve(toolsOf(name)), fail: () => reject(new Error('away')) })
    return promise
  }, 300_000)
  const next = async () => (await lists.get(server))[0]?.name
  return { lists, loads, next }
}

verifies(
  'contract-6.mcp',
  'a list that changes once it was asked for goes to those who wait, and to no others',
  async () => {
    const { lists, loads, next } = listsByHand()
    const waits = [next(), next()]
    loads[0]?.asking()
    lists.drop(server)
    waits.push(next())
    expect(loads).toHaveLength(1)
    loads[0]?.end('old')
    expect(await Promise.all(waits)).toEqual(['old', 'old', 'old'])
    const again = next()
    expect(loads).toHaveLength(2)
    loads[1]?.asking()
    loads[1]?.end('new')
    expect(await again).toBe('new')
    void next()
    expect(loads).toHaveLength(2)
    lists.drop(server)
    void next()
    expect(loads).toHaveLength(3)
  },
)

verifies('contract-6.mcp', 'a change before the request is in its answer', async () => {
  const { lists, loads, next } = listsByHand()
  const first = next()
  lists.drop(server)
  loads[0]?.asking()
  loads[0]?.end('new')
  expect(await first).toBe('new')
  void next()
  expect(loads).toHaveLength(1)
})

verifies('contract-6.mcp', 'a list that failed is loaded again by the next who asks', async () => {
  const { loads, next } = listsByHand()
  const first = next()
  loads[0]?.fail()
  await expect(first).rejects.toThrow('away')
  const again = next()
  expect(loads).toHaveLength(2)
  loads[1]?.end('new')
  expect(await again).toBe('new')
})

verifies('contract-35.tool-pages', 'the warning is that of the newest list', async () => {
  let isWhole = false
  await using hand = await serve(
    (method) => {
      if (method !== 'tools/list') return unknown
      return { result: { tools: [good], ...(!isWhole && { nextCursor: 'b' }) } }
    },
    { times: { list: 0 } },
  )
  await hand.mcp.tools(hand.server, never)
  expect(await hand.mcp.warning(hand.server)).toMatch(/cursor of an earlier/)
  isWhole = true
  await hand.mcp.tools(hand.server, never)
  expect(await hand.mcp.warning(hand.server)).toBeNull()
})

verifies('contract-6.mcp', 'calls under way finish when the record of their server has changed', async () => {
  const arrived = { one: Promise.withResolvers<void>(), two: Promise.withResolvers<void>() }
  const ends = { one: Promise.withResolvers<void>(), two: Promise.withResolvers<void>() }
  await using hand = await serve(async (method, { name }) => {
    if (method !== 'tools/call' || (name !== 'one' && name !== 'two')) return unknown
    arrived[name].resolve()
    await ends[name].promise
    return { result: { content: [{ type: 'text', text: name }] } }
  })
  const call = async (name: 'one' | 'two') => {
    const called = hand.mcp.call(hand.server, name, {}, never)
    await arrived[name].promise
    return async () => {
      ends[name].resolve()
      return await called
    }
  }
  const [one, two] = [await call('one'), await call('two')]
  hand.mcp.forget(hand.server.id)
  expect(await one()).toEqual({ ok: true, content: 'one' })
  expect(await two()).toEqual({ ok: true, content: 'two' })
})
