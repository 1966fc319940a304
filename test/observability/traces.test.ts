/** Contract sections 1 and 17: what a collector of ours is sent, over OTLP/HTTP. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTraces } from '../../src/observability/traces.ts'
import { openScene, type Scene } from '../http/scene.ts'
import { freePort } from '../support/programs/free-port.ts'
import { verifies } from '../verifies.ts'
import { attributesOf, type Collector, type SentSpan, startCollector } from './otlp-collector.ts'

let collector: Collector
let scene: Scene
beforeAll(async () => {
  collector = await startCollector()
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'chat',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%20test,service.instance.id=mine',
    PROVIDER_RETRIES: '0',
  }
  scene = await openScene({ settings, config: { temperature: 0.25 }, system: 'A very private prompt.' })
})
afterAll(async () => {
  await scene.close()
  await collector.close()
})

/** Spans of a trace by name, once its request's own has come. */
async function traceOf(traceId: string): Promise<Map<string, SentSpan>> {
  const all = () => collector.spans.filter((span) => span.traceId === traceId)
  await expect.poll(() => all().some((span) => span.name.startsWith('POST '))).toBe(true)
  await expect.poll(() => all().some((span) => span.name === 'invoke_agent Agent')).toBe(true)
  return new Map(all().map((span) => [span.name, span]))
}

verifies(
  ['contract-1.traces', 'contract-17.traces', 'contract-19.usage'],
  'a request, its reply, model and tool calls, the settlement: one tree',
  async () => {
    await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'] })
    scene.up.next(async (one) => {
      await one.text('private answer')
      await one.toolCall({ id: 'call-7', name: 'current_time', arguments: '{"timeZone":"Europe/Rome"}' })
      await one.finish('tool_calls', { prompt_tokens: 11, completion_tokens: 2 }, true)
    })
    scene.up.next(async (one) => {
      await one.text('the end')
      const details = {
        prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      }
      await one.finish('stop', { prompt_tokens: 20, completion_tokens: 3, ...details }, true)
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
      'http.route': route,
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.request.header.x-request-id': ['mine'],
      'url.path': `${scene.sessions}/${session}/chat/completions`,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(scene.app.url).port),
    })
    const reply = spans.get('invoke_agent Agent')
    expect(reply?.parentSpanId).toBe(request?.spanId)
    expect(attributesOf(reply)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': scene.agentId,
      'gen_ai.agent.name': 'Agent',
      'gen_ai.conversation.id': session,
      'gen_ai.usage.input_tokens': 31,
      'gen_ai.usage.output_tokens': 5,
      'greenroom.outcome': 'stop',
    })
    const chats = collector.spans.filter((span) => span.traceId === traceId && span.name === 'chat test-model')
    expect(chats.map(attributesOf)).toMatchObject([
      { 'gen_ai.response.finish_reasons': ['tool_call'], 'gen_ai.usage.input_tokens': 11 },
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai-compatible',
        'gen_ai.request.model': 'test-model',
        'gen_ai.request.temperature': 0.25,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.usage.cache_read.input_tokens': 9,
        'gen_ai.usage.cache_creation.input_tokens': 4,
        'gen_ai.usage.reasoning.output_tokens': 1,
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(scene.up.url).port),
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
  },
)

verifies('contract-17.traces', 'the service is named by OTEL_SERVICE_NAME, then OTEL_RESOURCE_ATTRIBUTES', async () => {
  await scene.call('GET', '/api/v1/agents')
  await expect.poll(() => collector.resources.length).toBeGreaterThan(0)
  expect(collector.resources.at(-1)).toMatchObject({
    'service.name': 'chat',
    'deployment.environment.name': 'a test',
    // Each process has an id of its own, whatever the attributes say.
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

verifies('contract-1.traces', 'a stateless reply that fails says of which kind, where nobody else traced', async () => {
  scene.up.always((one) => one.error(401, { error: { message: 'a very private reason' } }))
  const before = collector.spans.length
  await scene.stateless([{ role: 'user', content: 'x' }], {}, { traceparent: 'no such thing' })
  const sent = () => collector.spans.slice(before)
  await expect.poll(() => sent().some(({ name }) => name.startsWith('POST '))).toBe(true)
  await expect.poll(() => sent().some(({ name }) => name === 'invoke_agent Agent')).toBe(true)
  const spans = new Map(sent().map((span) => [span.name, span]))
  const request = [...spans.values()].find(({ name }) => name.startsWith('POST '))
  expect(request?.parentSpanId ?? '').toBe('')
  for (const name of ['invoke_agent Agent', 'chat test-model']) {
    expect(spans.get(name)).toMatchObject({ traceId: request?.traceId, status: { code: 2 } })
    expect(attributesOf(spans.get(name))).toMatchObject({ 'error.type': 'provider_auth' })
  }
  expect(attributesOf(spans.get('invoke_agent Agent'))).not.toHaveProperty('gen_ai.conversation.id')
  expect(collector.bodies.join('')).not.toContain('private reason')
})

/** Traces of their own, to a collector that the test takes away. */
function tracesTo(endpoint: string) {
  const lines: string[] = []
  let dropped = 0
  const traces = createTraces({
    endpoint,
    instanceId: 'i',
    version: '1',
    serviceName: null,
    resourceAttributes: {},
    onDropped: (count) => {
      dropped += count
    },
    log: {
      info: (details, message) => lines.push(`info ${message} ${JSON.stringify(details)}`),
      warn: (_, message) => lines.push(`warn ${message}`),
    },
  })
  const request = { id: 'r', method: 'GET', route: null, path: '/', scheme: 'http', host: 'h', port: null }
  const trace = () => traces.requests.begin({ ...request, traceparent: null }).ended(200)
  return { traces, lines, trace, dropped: () => dropped }
}

verifies('contract-17.traces', 'a collector that is away is one warning, and one line when it is back', async () => {
  const port = await freePort()
  const { traces, lines, trace, dropped } = tracesTo(`http://127.0.0.1:${port}/base`)
  for (const count of [1, 2]) {
    trace()
    await expect.poll(dropped).toBe(count)
  }
  expect(lines).toEqual(['warn The trace collector accepts no spans: they are dropped.'])
  const back = await startCollector(port)
  trace()
  await expect.poll(() => lines.length).toBe(2)
  expect(lines[1]).toBe(
    `info The trace collector accepts spans again. {"collector":"http://127.0.0.1:${port}","dropped":2}`,
  )
  trace()
  await expect.poll(() => back.spans.length).toBe(2)
  expect([lines.length, dropped()]).toEqual([2, 2])
  await traces.close()
  await back.close()
})

test('spans beyond what may wait are counted too', async () => {
  const own = await startCollector() // the other one still receives the spans of the tests before
  const { traces, trace, dropped } = tracesTo(own.url)
  for (let n = 0; n < 5000; n++) trace()
  await traces.close()
  expect(dropped()).toBeGreaterThan(0)
  expect(own.spans.length + dropped()).toBe(5000)
  await own.close()
})
