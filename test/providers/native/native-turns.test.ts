/** Native providers: how a turn ends, what it cost, what it is asked with, however the bytes come. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { over } from '../../../scripts/fixtures/vendor-fixture.ts'
import { samples } from '../../support/samples.ts'
import { ask, connectionTo, requestTo, scene, spoken, textOf } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'
import { both, look, open, type Vendor } from './native-scene.ts'

test.each<[Vendor, string, string]>([
  ['anthropic', 'end_turn', 'stop'],
  ['anthropic', 'stop_sequence', 'stop'],
  ['anthropic', 'max_tokens', 'length'],
  ['anthropic', 'model_context_window_exceeded', 'length'],
  ['anthropic', 'refusal', 'content_filter'],
  ['gemini', 'STOP', 'stop'],
  ['gemini', 'MAX_TOKENS', 'length'],
  ['gemini', 'SAFETY', 'content_filter'],
  ['gemini', 'RECITATION', 'content_filter'],
  ['gemini', 'BLOCKLIST', 'content_filter'],
  ['gemini', 'PROHIBITED_CONTENT', 'content_filter'],
])('%s: %s is %s, and a call that was cut off does not run', async (vendor, stop, reason) => {
  const { up, model, request } = await open(vendor)
  const cut = reason !== 'stop'
  up.next(
    vendor === 'anthropic'
      ? anthropic.tells({ stop, ...(cut && { calls: [{ id: 't', name: 'look', input: {} }] }) })
      : gemini.tells({ finish: stop, ...(cut && { calls: [{ name: 'look', args: {} }] }) }),
  )
  const events = spoken(await ask(model, request({ tools: [look] }))).filter(({ type }) => type !== 'usage')
  // Gemini's word for it is the only reason that it gives.
  const refusal = vendor === 'gemini' && reason === 'content_filter' && { refusal: stop }
  expect(events).toEqual([{ type: 'end', reason, usage: expect.anything(), ...refusal }])
})

test('gemini: a prompt that is blocked has no candidate', async () => {
  const { up, model, request } = await open('gemini')
  up.next(async (call) => {
    await call.raw(
      gemini.chunk({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 9 } }),
    )
    call.end()
  })
  expect((await ask(model, request())).at(-1)).toEqual({
    type: 'end',
    refusal: 'PROHIBITED_CONTENT',
    reason: 'content_filter',
    usage: { promptTokens: 9, completionTokens: 0 },
  })
})

test('what was cached and what was thought is counted', async () => {
  const one = await open('anthropic')
  const usage = { input_tokens: 3, cache_creation_input_tokens: 100, cache_read_input_tokens: 2000 }
  one.up.next(anthropic.tells({ text: ['a'], usage, outputTokens: 11 }))
  expect((await ask(one.model, one.request())).at(-1)).toMatchObject({
    usage: { promptTokens: 2103, completionTokens: 11 },
  })
  const two = await open('gemini')
  const counted = { promptTokenCount: 50, cachedContentTokenCount: 40, candidatesTokenCount: 2, thoughtsTokenCount: 30 }
  two.up.next(gemini.tells({ text: ['a'], usage: counted }))
  expect((await ask(two.model, two.request())).at(-1)).toMatchObject({
    usage: { promptTokens: 50, completionTokens: 32 },
  })
})

test.each([
  ['claude-opus-5-5', { temperature: 0.5, topP: 0.9, topK: 5 }, {}, '2026-10-21', 128_000],
  ['claude-opus-4-7', { temperature: 0.5 }, {}, '2026-10-21', 128_000],
  ['claude-sonnet-4-6', { temperature: 1, topP: 0.9, topK: 5 }, { temperature: 1, top_k: 5 }, '2023-06-01', 64_000],
  ['claude-opus-4-0', { temperature: 1.7, topP: 0.9 }, { temperature: 1.7, top_p: 0.9 }, '2023-06-01', 32_000],
  ['claude-sonnet-4-5-20250929', { topP: 0.9 }, { top_p: 0.9 }, '2023-06-01', 64_000],
  ['claude-opus-4-1-20250805', { temperature: 0 }, { temperature: 0 }, '2023-06-01', 32_000],
  ['claude-opus-4-20250514', {}, {}, '2026-10-21', 32_000],
  ['claude-3-5-haiku-latest', { topK: 1 }, { top_k: 1 }, '2023-06-01', 8192],
  ['claude-3-haiku-20240307', {}, {}, '2026-10-21', 4096],
])('%s with %j is asked with %j', async (name, config, sent, version, maxTokens) => {
  const { up, model, request } = await open('anthropic')
  up.next(anthropic.tells({ text: ['ok'] }))
  expect(textOf(await ask(model, request({ model: name, config })))).toBe('ok')
  const { body, headers } = await up.call(1)
  const { temperature, top_p, top_k } = body
  expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(sent)
  expect([headers['anthropic-version'], body.max_tokens]).toEqual([version, maxTokens])
})

test('gemini is asked with temperature, topP and topK', async () => {
  const { up, model, request } = await open('gemini')
  up.next(gemini.tells({ text: ['ok'] }))
  await ask(model, request({ config: { temperature: 0.5, topP: 0.9, topK: 5 } }))
  expect((await up.call(1)).body.generationConfig).toEqual({ temperature: 0.5, topP: 0.9, topK: 5 })
})

test('anthropic: tools, system prompt and the newest message are marked for its cache', async () => {
  const { up, model, request } = await open('anthropic')
  up.always(anthropic.tells({ text: ['ok'] }))
  await ask(model, request({ system: 'S', tools: [look] }))
  await ask(model, request({ tools: [look] }))
  const cache_control = { type: 'ephemeral' }
  const newest = [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control }] }]
  const { body } = await up.call(1)
  expect([body.system, body.messages]).toEqual([[{ type: 'text', text: 'S', cache_control }], newest])
  expect(body.tools[0]).not.toHaveProperty('cache_control')
  expect((await up.call(2)).body.tools[0]).toHaveProperty('cache_control')
})

test('wherever the network cuts the bytes, the turn is the same', async () => {
  const sent: Record<Vendor, string> = {
    anthropic: anthropic.turn({
      thinking: 'Hm…',
      text: ['Zü', 'rich 🏔️'],
      calls: [{ id: 'toolu_1', name: 'look', input: { q: 'ß\n"' } }],
    }),
    gemini: gemini.turn({ text: ['Zü', 'rich 🏔️'], calls: [{ id: 'g1', name: 'look', args: { q: 'ß\n"' } }] }),
  }
  let pieces: Uint8Array[] = []
  const fetch = async () =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift()
          if (piece) controller.enqueue(piece)
          else controller.close()
        },
      }),
    )
  const { model } = await scene({ fetch: over(fetch), providerRetries: 0 })
  const cuts = fc.array(fc.nat({ max: 2500 }), { maxLength: 30 })
  const property = fc.asyncProperty(fc.constantFrom(...both), cuts, async (vendor, places) => {
    const bytes = Buffer.from(sent[vendor])
    const sorted = [...new Set([0, ...places.map((place) => place % bytes.length)])].toSorted((a, b) => a - b)
    pieces = sorted
      .map((from, index) => bytes.subarray(from, sorted[index + 1] ?? bytes.length))
      .filter((p) => p.length)
    const request = requestTo(null, {
      provider: connectionTo('http://unused.example', vendor),
      model: 'm',
      tools: [look],
    })
    const events = spoken(await ask(model, request)).filter(({ type }) => type !== 'usage')
    expect(textOf(events)).toBe('Zürich 🏔️')
    expect(events.slice(-2)).toMatchObject([
      { type: 'tool_call', call: { name: 'look', arguments: '{"q":"ß\\n\\""}' } },
      { type: 'end', reason: 'tool_calls', usage: { promptTokens: 5, completionTokens: 7 } },
    ])
  })
  await fc.assert(property, { numRuns: samples(60, 200) })
})
