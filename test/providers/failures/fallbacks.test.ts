/** Contract section 13, provider fallbacks: exactly the calls that it allows, counted at the servers. */
import { expect, onTestFinished, test } from 'vitest'
import type { ModelEvent, ModelRequest } from '../../../src/actors/ports/index.ts'
import { type Script, startUpstream } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { startAnthropic, tells } from '../native/anthropic-server.ts'
import { startGemini, tells as tellsGemini } from '../native/gemini-server.ts'
import { ask, callsOf, connectionTo, failureIn, okay, requestTo, sayOk, scene, spoken } from '../scene.ts'

/** Three servers, asked in this order: `a`, `b`, `c`. */
async function three(options: Parameters<typeof scene>[0] = {}) {
  const { up: a, model } = await scene(options)
  const [b, c] = [await startUpstream(), await startUpstream()]
  onTestFinished(() => Promise.all([b.close(), c.close()]).then(() => {}))
  const target = (up: { url: string }, id: string) => ({
    provider: { ...connectionTo(up.url), id },
    model: `model-${id}`,
  })
  const request = (changes: Partial<ModelRequest> = {}) =>
    requestTo(a, { ...target(a, 'a'), fallbacks: [target(b, 'b'), target(c, 'c')], ...changes })
  const counted = () => [a.calls.length, b.calls.length, c.calls.length]
  return { a, b, c, model, request, counted }
}

const namedB: ModelEvent = { type: 'model', model: 'model-b', providerId: 'b' }
const namedC: ModelEvent = { type: 'model', model: 'model-c', providerId: 'c' }

const roleAlone: Script = async (call) => {
  await call.delta({ role: 'assistant', content: '' })
  call.reset()
}

test.each<[string, Script, number]>([
  ['500, after its retries', (call) => call.error(500), 3],
  ['408, after its retries', (call) => call.error(408), 3],
  ['a broken connection', (call) => call.reset(), 3],
  ['a break after the role chunk alone', roleAlone, 3],
  ['an overload told as the first event', (call) => call.data({ error: { message: 'busy', code: 529 } }), 3],
  ['429 that asks for too long', (call) => call.error(429, undefined, { 'retry-after': '11' }), 1],
  ['504', (call) => call.error(504), 3],
  ['a refused key', (call) => call.error(401), 1],
])('%s leads to the next one, which alone is asked then', async (_, script, calls) => {
  const { a, b, model, request, counted } = await three()
  a.always(script)
  b.always(sayOk)
  expect(spoken(await ask(model, request()))).toEqual([namedB, ...okay])
  expect(counted()).toEqual([calls, 1, 0])
})

verifies('contract-13.fallbacks', 'a provider that stays silent is passed on from, without a retry', async () => {
  const { a, b, model, request, counted } = await three({ idleTimeoutMs: 3000 })
  a.always((call) => call.open())
  b.always(sayOk)
  expect(spoken(await ask(model, request()))).toEqual([namedB, ...okay])
  expect(counted()).toEqual([1, 1, 0])
})

test.each([400, 404, 413, 422])('%i stays where it came from', async (status) => {
  const { a, model, request, counted } = await three()
  a.always((call) => call.error(status))
  failureIn(await ask(model, request()))
  expect(counted()).toEqual([1, 0, 0])
})

test.each<[string, Script]>([
  ['text', (call) => call.text('P')],
  ['reasoning', (call) => call.delta({ reasoning_content: 'hm' })],
  ['a piece of a tool call', (call) => call.delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] })],
])('after %s nobody else is asked', async (_, first) => {
  const { a, model, request, counted } = await three()
  a.always(async (call) => {
    await first(call)
    call.end()
  })
  expect(failureIn(await ask(model, request())).code).toBe('provider_error')
  expect(counted()).toEqual([1, 0, 0])
})

verifies(
  'contract-13.fallbacks',
  'when all fail, code and message are the last one’s; each try is reported',
  async () => {
    const { a, b, c, model, request, counted } = await three({ providerRetries: 1 })
    const seen: string[] = []
    const calls = callsOf({
      called: (call) => void seen.push(call.providerId),
      call_ended: ({ outcome }) => void seen.push(outcome),
      fell_back: ({ code }) => void seen.push(`passed on: ${code}`),
    })
    a.always((call) => call.error(503))
    b.always((call) => call.error(429, undefined, { 'retry-after': '60' }))
    c.always((call) => call.error(401, { error: { message: 'no' } }))
    const events = await ask(model, request({ calls }))
    expect(spoken(events)).toEqual([namedC, { type: 'failed', failure: failureIn(events) }])
    expect(failureIn(events)).toMatchObject({ code: 'provider_auth' })
    expect(counted()).toEqual([2, 1, 1])
    expect(seen).toEqual([
      ...['a', 'provider_error', 'a', 'provider_error', 'passed on: provider_error'],
      ...['b', 'provider_rate_limited', 'passed on: provider_rate_limited', 'c', 'provider_auth'],
    ])
  },
)

verifies('contract-13.fallbacks', 'one that does not take what the request holds is passed over', async () => {
  const { a, b, c, model, request, counted } = await three({ providerRetries: 0 })
  a.always((call) => call.error(500))
  c.always(sayOk)
  const asked = request({ fields: { seed: 7 } })
  const [first, second] = asked.fallbacks ?? []
  if (!first || !second) throw new Error('two fallbacks')
  const fallbacks = [{ ...first, provider: { ...first.provider, type: 'anthropic' } }, second]
  expect(spoken(await ask(model, { ...asked, fallbacks }))).toEqual([namedC, ...okay])
  expect(counted()).toEqual([1, 0, 1])
  expect([b.calls.length, c.calls[0]?.body.seed]).toEqual([0, 7])
})

verifies('contract-13.fallbacks', 'an abort asks nobody else', async () => {
  const abort = new AbortController()
  const { a, model, request, counted } = await three({ providerRetries: 0 })
  const calls = callsOf({ fell_back: () => abort.abort() })
  a.always((call) => call.error(500))
  expect(spoken(await ask(model, request({ calls }), abort.signal))).toEqual([])
  expect(counted()).toEqual([1, 0, 0])
})

verifies(
  'contract-13.fallbacks',
  'each vendor’s wire: an overload before the first event, then another vendor',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const [anthropic, gemini] = [await startAnthropic(), await startGemini()]
    onTestFinished(() => Promise.all([anthropic.close(), gemini.close()]).then(() => {}))
    const claude = { provider: { ...connectionTo(anthropic.base, 'anthropic'), id: 'c' }, model: 'claude-opus-5-5' }
    const flash = { provider: { ...connectionTo(gemini.base, 'gemini'), id: 'g' }, model: 'gemini-3-flash' }
    const gpt = { provider: { ...connectionTo(up.url), id: 'o' }, model: 'gpt' }
    const overloaded = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    anthropic.next(async (call) => {
      await call.raw(overloaded)
      call.end()
    })
    gemini.next(tellsGemini({ text: ['ok'] }))
    const first = await ask(model, requestTo(null, { ...claude, fallbacks: [flash, gpt] }))
    expect(spoken(first)).toContainEqual({ type: 'model', model: 'gemini-3-flash', providerId: 'g' })
    gemini.next((call) => call.error(503, { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }))
    anthropic.next(tells({ text: ['ok'] }))
    const second = await ask(model, requestTo(null, { ...flash, fallbacks: [claude, gpt] }))
    expect(spoken(second)).toContainEqual({ type: 'model', model: 'claude-opus-5-5', providerId: 'c' })
    expect([anthropic.calls.length, gemini.calls.length, up.calls.length]).toEqual([2, 2, 0])
  },
)

verifies('contract-13.fallbacks', 'what a vendor wants back goes to the model that sent it alone', async () => {
  const { model } = await scene()
  const anthropic = await startAnthropic()
  onTestFinished(() => anthropic.close())
  const claude = { provider: connectionTo(anthropic.base, 'anthropic'), model: 'claude-opus-5-5' }
  const other = { ...claude, model: 'claude-sonnet-5' }
  const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]
  const call = { id: 'c1', name: 'look', input: {} }
  anthropic.next(tells({ thinking: 'hm', calls: [call] }))
  const request = requestTo(null, { ...claude, tools, fallbacks: [other] })
  const end = (await ask(model, request)).find((event) => event.type === 'end')
  if (end?.type !== 'end' || !end.echo) throw new Error('no echo')
  const messages: ModelRequest['messages'] = [
    ...request.messages,
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }], echo: end.echo },
    { role: 'tool', toolCallId: 'c1', content: 'seen' },
  ]
  anthropic.next((one) => one.error(401))
  anthropic.next(tells({ text: ['ok'] }))
  await ask(model, { ...request, messages })
  const sent = anthropic.calls.slice(1).map(({ body }) => JSON.stringify(body.messages).includes('c2lnbmVk'))
  expect(sent).toEqual([true, false])
})

verifies('contract-19.agent-fields', 'a fallback that refuses a field of the agent is asked without it', async () => {
  const { a, b, model, request, counted } = await three()
  a.always((call) => call.error(401))
  const refuse = (name: string): Script => {
    return (call) => call.error(400, { error: { message: `Unrecognized request argument supplied: ${name}` } })
  }
  b.next(refuse('reasoning_effort'))
  b.next(refuse('max_tokens'))
  b.next(sayOk)
  const agentFields = { reasoningEffort: 'high', maxTokens: 500 } as const
  expect(spoken(await ask(model, request({ agentFields })))).toEqual([namedB, ...okay])
  expect(b.calls.map(({ body }) => [body.reasoning_effort, body.max_tokens])).toEqual([
    ['high', 500],
    [undefined, 500],
    [undefined, undefined],
  ])

  b.next(refuse('reasoning_effort'))
  failureIn(await ask(model, request({ agentFields, fields: { reasoningEffort: 'low' } })))
  a.always(refuse('reasoning_effort'))
  failureIn(await ask(model, request({ agentFields })))
  expect(counted()).toEqual([3, 4, 0])
})
