/** Contract section 17: every call out carries the `traceparent` of its own span. */
import { afterAll, beforeAll, expect } from 'vitest'
import { openToolScene, startToolServer, type ToolScene } from '../http/tool-scene.ts'
import { type ServerKind, serverKinds, startMcpServer } from '../support/network/mcp-servers.ts'
import { startReceiver } from '../support/network/receiver.ts'
import { verifies } from '../verifies.ts'
import { type Collector, type SentSpan, startCollector } from './otlp-collector.ts'

let collector: Collector
let scene: ToolScene
beforeAll(async () => {
  collector = await startCollector()
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PROVIDER_RETRIES: '1', OUTBOUND_ALLOW: '127.0.0.1' }
  scene = await openToolScene({ settings })
})
afterAll(async () => {
  await scene.close()
  await collector.close()
})

const headerOf = ({ traceId, spanId }: SentSpan) => `00-${traceId}-${spanId}-01`

/** One reply that calls this tool, and its spans. */
async function replyThatCalls(name: string, args: object): Promise<SentSpan[]> {
  const before = collector.spans.length
  const first = scene.up.calls.length
  scene.up.next(async (one) => {
    await one.toolCall({ name, arguments: JSON.stringify(args) })
    await one.finish('tool_calls')
  })
  scene.up.next((one) => one.error(503))
  scene.up.next(async (one) => {
    await one.text('done')
    await one.finish()
  })
  await scene.send(await scene.newSession(), 'go')
  const sent = () => collector.spans.slice(before)
  await expect.poll(() => sent().filter(({ name }) => name === 'invoke_agent Agent').length).toBe(1)
  const chats = sent().filter(({ name }) => name === 'chat test-model')
  const calls = scene.up.calls.slice(first).map(({ headers }) => headers.traceparent)
  // The last two are one model call and its retry.
  expect(calls).toEqual([chats[0], chats[1], chats[1]].map((span) => span && headerOf(span)))
  return sent()
}

const toolSpan = (spans: readonly SentSpan[]) => {
  const span = spans.find(({ name }) => name.startsWith('execute_tool '))
  if (span === undefined) throw new Error('No tool was called.')
  return span
}

verifies('contract-17.traceparent', 'providers, retries too, and HTTP tools', async () => {
  await using server = await startToolServer(() => 'ok')
  const id = await scene.createTool({ name: 'plain', url: server.url })
  await scene.choose({ httpToolIds: [id] })
  const spans = await replyThatCalls('plain', {})
  expect(server.requests.map(({ request }) => request.headers.traceparent)).toEqual([headerOf(toolSpan(spans))])
})

verifies('contract-17.traceparent', 'a header that the tool configures wins', async () => {
  await using server = await startToolServer(() => 'ok')
  const id = await scene.createTool({ name: 'own', url: server.url, headers: { Traceparent: 'of-my-own' } })
  await scene.choose({ httpToolIds: [id] })
  await replyThatCalls('own', {})
  expect(server.requests.map(({ request }) => request.headers.traceparent)).toEqual(['of-my-own'])
})

verifies('contract-17.traceparent', 'web_fetch', async () => {
  await using server = await startToolServer(() => 'a page')
  await scene.choose({ builtInToolIds: ['web_fetch'] })
  const spans = await replyThatCalls('web_fetch', { url: server.url })
  expect(server.requests.map(({ request }) => request.headers.traceparent)).toEqual([headerOf(toolSpan(spans))])
})

for (const kind of serverKinds) {
  verifies('contract-17.traceparent', `MCP, ${kind}: listing in the reply's span, calls in their own`, async () => {
    await using server = await startMcpServer(kind)
    const transport = transportOf(kind)
    const serverName = `mcp-${kind.replace(/[^a-zA-Z0-9_-]+/g, '-')}`
    const mcpServerId = await scene.createMcpServer({ name: serverName, url: server.url, transport })
    await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['echo'] }] })
    const name = `${serverName}__echo`
    const spans = await replyThatCalls(name, { text: 'x' })
    const reply = spans.find((span) => span.name === 'invoke_agent Agent')
    const sent = (rpc: string) => server.requests.filter((one) => one.rpc === rpc).map((one) => one.headers.traceparent)
    expect(sent('tools/call')).toEqual([headerOf(toolSpan(spans))])
    expect(server.traceparents).toEqual([headerOf(toolSpan(spans))])
    expect(sent('tools/list')).toEqual([reply && headerOf(reply)])
  })
}

verifies('contract-17.traceparent', 'what a request of the administrator asks for', async () => {
  await using server = await startToolServer(() => 'ok')
  const id = await scene.createTool({ name: 'tried', url: server.url })
  const traceId = '0af7651916cd43dd8448eb211c80319d'
  const caller = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  await scene.call('POST', `/api/v1/http-tools/${id}/test`, { arguments: {} }, caller)
  const request = () => collector.spans.find((span) => span.traceId === traceId)
  await expect.poll(request).toBeDefined()
  const span = request()
  expect(server.requests.map(({ request }) => request.headers.traceparent)).toEqual([span && headerOf(span)])
})

verifies('contract-17.traceparent', 'a webhook is no part of the request that has it sent again', async () => {
  await using receiver = await startReceiver()
  const hook = { name: 'told', url: receiver.url, events: ['session.deleted'] }
  const path = `/api/v1/webhooks/${(await scene.call('POST', '/api/v1/webhooks', hook)).json.id}`
  await scene.call(
    'DELETE',
    `${scene.sessions}/${(await scene.call('POST', scene.sessions, { messages: [{ role: 'user', content: 'x' }] })).json.id}`,
  )
  await expect.poll(() => receiver.received.length).toBe(1)
  const [delivery] = (await scene.call('GET', `${path}/deliveries`)).json.deliveries
  const caller = { traceparent: '00-1af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01' }
  await scene.call('POST', `${path}/deliveries/${delivery.id}/redeliver`, undefined, caller)
  await expect.poll(() => receiver.received.length).toBe(2)
  expect(receiver.received.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined])
})

const transportOf = (kind: ServerKind) => (kind.startsWith('sse') ? 'sse' : 'streamable_http')
