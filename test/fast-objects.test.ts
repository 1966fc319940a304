/**
 * What every token passes stays an object whose fields V8 finds by their place. A literal with a getter is a dictionary
 * to it from the start (its getters are new functions each time), three times as slow to read and to call.
 */
import { setFlagsFromString } from 'node:v8'
import { expect, test } from 'vitest'
import type { ReplyInfo } from '../src/actors/ports/index.ts'
import { createFrameLog } from '../src/actors/reply/frame-log.ts'
import { createReplyLog, type ReplyLogOptions } from '../src/actors/reply/reply-log.ts'
import { readAnthropicTurn } from '../src/providers/anthropic/anthropic-turn.ts'
import { readGeminiTurn } from '../src/providers/gemini/gemini-turn.ts'
import { readTurn } from '../src/providers/openai/chat-turn.ts'
import { watchSilence } from '../src/providers/wire/silence.ts'

setFlagsFromString('--allow-natives-syntax')
const isFast = new Function('object', 'return %HasFastProperties(object)')
setFlagsFromString('--no-allow-natives-syntax')

const info: ReplyInfo = {
  id: 'r',
  sessionId: 's',
  sessionNum: 1,
  firstSeq: 1,
  model: 'm',
  createdAt: '2026-01-01T00:00:00.000Z',
  includeUsage: false,
  instanceId: 'i',
  epoch: 1,
}
const asked = {
  provider: { id: 'p', type: 'anthropic', baseUrl: null, apiKey: null },
  model: 'm',
  reasoning: true,
  tools: [],
}
const logOptions: ReplyLogOptions = { append: async () => 'stored', withdraw() {}, onStored() {}, onRefused() {} }

test.each<[string, () => object]>([
  ['a reply log', () => createReplyLog(info, logOptions)],
  ['a frame log', () => createFrameLog(info)],
  ['a turn of chat completions', () => readTurn({ reasoning: true, reasoningBack: null, keepEcho: () => ({}) })],
  ['a turn of Anthropic', () => readAnthropicTurn(asked)],
  ['a turn of Gemini', () => readGeminiTurn(asked)],
  ['a watch for silence', () => watchSilence(AbortSignal.abort(), 1000)],
])('%s keeps its fast properties', (_, make) => {
  make()
  expect(isFast(make())).toBe(true)
})

test('an object with a getter would be told', () => {
  const make = (value: number) => ({
    get value() {
      return value
    },
  })
  make(1)
  expect(isFast(make(2))).toBe(false)
})
