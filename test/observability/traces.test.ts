/** Contract section 1, OTEL_EXPORTER_OTLP_ENDPOINT: what a collector of ours is sent, over OTLP/HTTP. */
import { createServer, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect } from 'vitest'
import { openScene, type Scene } from '../http/scene.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}
interface Sent {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: Value }[]
  status?: { code?: number }
}

/** Speaks OTLP/HTTP with JSON bodies, which the exporter sends. */
async function startCollector() {
  const spans: Sent[] = []
  const bodies: string[] = []
  const resources: Value[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    if (request.url !== '/base/v1/traces' || request.headers['content-type'] !== 'application/json') {
      response.writeHead(404).end()
      return
    }
    bodies.push(body)
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      resources.push(...resource.attributes)
      for (const one of scopeSpans) spans.push(...one.spans)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { spans, bodies, resources, url: `http://127.0.0.1:${port}/base/`, close: () => server.close() }
}

let collector: Awaited<ReturnType<typeof startCollector>>
let scene: Scene
beforeAll(async () => {
  collector = await startCollector()
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PROVIDER_RETRIES: '0' }
  scene = await openScene({ settings, config: { temperature: 0.25 }, system: 'A very private prompt.' })
})
afterAll(async () => {
  await scene.close()
  collector.close()
})

const plain = (value: Value): unknown =>
  value.arrayValue ? value.arrayValue.values.map(plain) : Object.values(value)[0]
const attributesOf = (span: Sent | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, plain(value)]))
const soon = { timeout: WAIT_MS }

/** Spans of a trace by name, once its request's own has come. */
async function traceOf(traceId: string): Promise<Map<string, Sent>> {
  const all = () => collector.spans.filter((span) => span.traceId === traceId)
  await expect.poll(() => all().some((span) => span.name.startsWith('POST ')), soon).toBe(true)
  await expect.poll(() => all().some((span) => span.name === 'invoke_agent'), soon).toBe(true)
  return new Map(all().map((span) => [span.name, span]))
}

verifies('contract-1.traces', 'a request, its reply, model and tool calls, the settlement: one tree', async () => {
  await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'] })
  scene.up.next(async (one) => {
    await one.text('private answer')
    await one.toolCall({ id: 'call-7', name: 'current_time', arguments: '{"timeZone":"Europe/Rome"}' })
    await one.finish('tool_calls', { prompt_tokens: 11, completion_tokens: 2 }, true)
  })
  scene.up.next(async (one) => {
    await one.text('the end')
    await one.finish('stop', { prompt_tokens: 20, completion_tokens: 3 }, true)
  })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const session = await scene.newSession()
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  await scene.send(session, 'private question', {}, { traceparent, 'x-request-id': 'mine' })
  const spans = await traceOf(traceId)

  const route = '/api/v1/agents/:agent_id/deploy/sessions/:session_id/chat/completions'
  const request = spans.get(`POST ${route}`)
  expect(request).toMatchObject({ kind: 2, parentSpanId: 'b7ad6b7169203331' })
  expect(attributesOf(request)).toMatchObject({
    ...{ 'http.route': route, 'http.request.method': 'POST', 'http.response.status_code': 200 },
    'http.request.header.x-request-id': 'mine',
  })
  const reply = spans.get('invoke_agent')
  expect(reply?.parentSpanId).toBe(request?.spanId)
  expect(attributesOf(reply)).toMatchObject({
    ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': session, 'greenroom.outcome': 'stop' },
    ...{ 'gen_ai.usage.input_tokens': 31, 'gen_ai.usage.output_tokens': 5, 'gen_ai.agent.id': scene.agentId },
  })
  const chats = collector.spans.filter((span) => span.traceId === traceId && span.name === 'chat test-model')
  expect(chats.map(attributesOf)).toMatchObject([
    { 'gen_ai.response.finish_reasons': ['tool_call'], 'gen_ai.usage.input_tokens': 11 },
    {
      ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai-compatible' },
      ...{ 'gen_ai.request.model': 'test-model', 'gen_ai.request.temperature': 0.25 },
      ...{ 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.usage.output_tokens': 3 },
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
    },
  ])
  expect(chats.map(({ kind, parentSpanId }) => [kind, parentSpanId])).toEqual([
    [3, reply?.spanId],
    [3, reply?.spanId],
  ])
  const tool = spans.get('execute_tool current_time')
  expect(tool?.parentSpanId).toBe(reply?.spanId)
  expect(attributesOf(tool)).toMatchObject({ 'gen_ai.tool.name': 'current_time', 'gen_ai.tool.call.id': 'call-7' })
  expect(spans.get('settle')?.parentSpanId).toBe(reply?.spanId)
  expect(collector.bodies.join('')).not.toMatch(/private|the end|Rome/)
  expect(collector.resources).toContainEqual({ key: 'service.name', value: { stringValue: 'greenroom' } })
})

verifies('contract-1.traces', 'a stateless reply that fails says of which kind, where nobody else traced', async () => {
  scene.up.always((one) => one.error(401, { error: { message: 'a very private reason' } }))
  const before = collector.spans.length
  await scene.stateless([{ role: 'user', content: 'x' }], {}, { traceparent: 'no such thing' })
  await expect.poll(() => collector.spans.slice(before).length, soon).toBeGreaterThanOrEqual(3)
  const spans = new Map(collector.spans.slice(before).map((span) => [span.name, span]))
  const request = [...spans.values()].find(({ name }) => name.startsWith('POST '))
  expect(request?.parentSpanId ?? '').toBe('')
  for (const name of ['invoke_agent', 'chat test-model']) {
    expect(spans.get(name)).toMatchObject({ traceId: request?.traceId, status: { code: 2 } })
    expect(attributesOf(spans.get(name))).toMatchObject({ 'error.type': 'provider_auth' })
  }
  expect(attributesOf(spans.get('invoke_agent'))).not.toHaveProperty('gen_ai.conversation.id')
  expect(collector.bodies.join('')).not.toContain('private reason')
})
