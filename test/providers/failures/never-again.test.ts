/** A provider call that has sent anything of the model's is never made again (contract section 10). */
import { describe, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { event } from '../native/anthropic-server.ts'
import { parts } from '../native/gemini-server.ts'
import { open } from '../native/native-scene.ts'
import { ask, failureIn, requestTo, scene } from '../scene.ts'

/** Asks once; every call gets these bytes and is then cut. Resolves with the number of calls. */
const chatCalls = async (bytes: string, reasoning = false): Promise<number> => {
  const { up, model } = await scene({ providerRetries: 1 })
  up.always(async (call) => {
    await call.raw(bytes)
    call.end()
  })
  expect(failureIn(await ask(model, requestTo(up, { reasoning }))).message).toContain('ended early')
  return up.calls.length
}

const nativeCalls = async (vendor: 'anthropic' | 'gemini', bytes: string): Promise<number> => {
  const { up, model, request } = await open(vendor, { providerRetries: 1 })
  up.always(async (call) => {
    await call.raw(bytes)
    call.end()
  })
  expect(failureIn(await ask(model, request())).message).toContain('ended early')
  return up.calls.length
}

const delta = (fields: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: fields }] })}\n\n`
const begun = event('message_start', { message: { usage: { input_tokens: 5, output_tokens: 1 } } })
const block = (content_block: object) => event('content_block_start', { index: 0, content_block })
const grown = (part: object) => event('content_block_delta', { index: 0, delta: part })

const rule = 'contract-10.no-second-call'

verifies(rule, 'part of a tool call was sent: the call is not made again', async () => {
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'pay', arguments: '{"amou' } }
  expect(await chatCalls(delta({ tool_calls: [call] }))).toBe(1)
  const tool = block({ type: 'tool_use', id: 'a', name: 'pay', input: {} })
  expect(await nativeCalls('anthropic', begun + tool)).toBe(1)
  expect(await nativeCalls('gemini', parts([{ functionCall: { name: 'pay', args: {} } }]))).toBe(1)
})

verifies(rule, 'reasoning was sent, asked for or not: the call is not made again', async () => {
  for (const field of ['reasoning_content', 'reasoning']) {
    for (const asked of [false, true]) expect(await chatCalls(delta({ [field]: 'Hm.' }), asked)).toBe(1)
  }
  expect(await chatCalls(delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }))).toBe(1)
  const thinking = block({ type: 'thinking', thinking: '', signature: '' })
  expect(await nativeCalls('anthropic', begun + thinking + grown({ type: 'thinking_delta', thinking: 'Hm.' }))).toBe(1)
  expect(await nativeCalls('anthropic', begun + block({ type: 'redacted_thinking', data: 'x' }))).toBe(1)
  expect(await nativeCalls('gemini', parts([{ text: 'Hm.', thought: true }]))).toBe(1)
})

verifies(rule, 'text was sent: the call is not made again', async () => {
  expect(await chatCalls(delta({ content: 'So' }))).toBe(1)
  expect(await nativeCalls('anthropic', begun + block({ type: 'text', text: 'So' }))).toBe(1)
  expect(await nativeCalls('gemini', parts([{ text: 'So' }]))).toBe(1)
})

describe('what is nothing of the model’s leaves the call to be made again', () => {
  test.each([
    ['a ping', ': ping\n\n'],
    ['a role', delta({ role: 'assistant', content: '' })],
    [
      'empty fields',
      delta({ role: 'assistant', content: null, reasoning_content: null, reasoning: '', tool_calls: [] }),
    ],
    ['usage', `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } })}\n\n`],
  ])('chat completions: %s', async (_, bytes) => {
    expect(await chatCalls(bytes)).toBe(2)
  })

  test.each([
    ['the start and a ping', begun + event('ping')],
    ['an empty text block', begun + block({ type: 'text', text: '' })],
    ['an empty thinking block', begun + block({ type: 'thinking', thinking: '', signature: '' })],
  ])('Anthropic: %s', async (_, bytes) => {
    expect(await nativeCalls('anthropic', bytes)).toBe(2)
  })

  test('Gemini: an empty part', async () => {
    expect(await nativeCalls('gemini', parts([{ text: '' }]))).toBe(2)
  })
})
