/**
 * Contract section 12, for every reply: however its frames are gathered into batches, the streams hold the same bytes,
 * the SDKs' own readers take them, and what they build is what GET …/messages gives.
 */
import { HttpAgent } from '@ag-ui/client'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Frame, frameOf, type ReplyEvent, type StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { createRunEncoder } from '../../../src/http/wires/ag-ui/encoder.ts'
import { createUiMessageEncoder } from '../../../src/http/wires/ai-sdk/encoder.ts'
import { uiMessageOf } from '../../../src/http/wires/ai-sdk/stored-messages.ts'
import { encodeFrames, type FrontEndEncoder } from '../../../src/http/wires/front-ends/asked-below.ts'
import type { MessageWithEvents } from '../../../src/http/wires/shared/reply-events.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { refusedBySdk, type WirePart } from '../ui-scene.ts'

const replyId = '01890000-0000-7000-8000-000000000001'

// ── replies ─────────────────────────────────────────────────────────────────────────────────────────────

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
const call = fc.record({
  name: fc.constantFrom('look', 'find'),
  arguments: fc.constantFrom(
    '{"q":1}',
    '',
    '{"',
    '[]',
    '{"__proto__":{"x":1}}',
    '['.repeat(20_000) + ']'.repeat(20_000),
  ),
  ok: fc.boolean(),
  content: text,
})
const said = fc.record({ type: fc.constantFrom('text', 'reasoning'), text })
/** One model call: what it thought and said, then the calls that it made. */
const turn = fc.record({ texts: fc.array(said, { maxLength: 3 }), calls: fc.array(call, { maxLength: 3 }) })
const ending = fc.constantFrom('stop', 'length', 'content_filter', 'cancelled', 'failed')
const reply = fc.record({
  turns: fc.array(turn, { maxLength: 4 }),
  last: fc.array(said, { maxLength: 3 }),
  /** How many of the last turn's results are missing: the reply ended before. */
  cut: fc.nat(4),
  ending,
})
type Reply = typeof reply extends fc.Arbitrary<infer R> ? R : never

function eventsOf({ turns, last, cut }: Reply): ReplyEvent[] {
  const events: ReplyEvent[] = []
  const startedAt = '2026-11-23T00:00:00.000Z'
  let made = 0
  for (const { texts, calls: asked } of turns) {
    events.push(...texts)
    const calls = asked.map((one) => ({ ...one, id: `c${made++}` }))
    for (const { id, name, arguments: args } of calls) {
      events.push({ type: 'tool_call', id, name, arguments: args, startedAt })
    }
    for (const { id, ok, content } of calls) events.push({ type: 'tool_result', id, ok, content, durationMs: 1 })
  }
  if (cut > 0 && events.at(-1)?.type === 'tool_result') {
    const results = turns.at(-1)?.calls.length ?? 0
    events.splice(events.length - Math.min(cut, results))
    return events
  }
  return [...events, ...last]
}

function stored(events: readonly ReplyEvent[]): StoredEvent[] {
  let seq = 1
  let part = 0
  return events.map((event) => {
    if (event.type === 'text' || event.type === 'reasoning') [seq, part] = [seq + 1, 0]
    else part += 1
    return { seq, part, event }
  })
}

const usage = { promptTokens: 1, completionTokens: 1, estimated: false }

function framesOf(one: Reply): Frame[] {
  const frames: Frame[] = [{ seq: 1, type: 'started' }, ...stored(eventsOf(one)).map(frameOf)]
  const seq = (frames.at(-1)?.seq ?? 1) + 1
  if (one.ending === 'failed') {
    return [...frames, { seq, type: 'failed', error: { code: 'internal', message: 'broken', detail: '' } }]
  }
  const reason = one.ending as Exclude<Reply['ending'], 'failed'> & 'stop'
  return [...frames, { seq, type: 'finished', reason, usage }, { seq: seq + 1, type: 'done' }]
}

const messageOf = (one: Reply): MessageWithEvents => ({
  parts: [],
  feedback: null,
  failure: null,
  id: replyId,
  role: 'assistant',
  status: one.ending === 'failed' ? 'error' : 'complete',
  content: '',
  events: eventsOf(one),
  waits: false,
  continues: null,
  waited: [],
})

// ── streams ─────────────────────────────────────────────────────────────────────────────────────────────

function encoded(encoder: FrontEndEncoder, frames: readonly Frame[], cuts: readonly number[]): string {
  let text = ''
  let from = 0
  for (const to of [...new Set(cuts.map((cut) => cut % frames.length)), frames.length].sort((a, b) => a - b)) {
    text += encodeFrames(encoder, frames.slice(from, to))
    from = to
  }
  return text
}

const partsIn = (wire: string): WirePart[] =>
  wire
    .split('\n\n')
    .filter((one) => one !== '' && one !== 'data: [DONE]')
    .map((one) => JSON.parse(one.replace(/^data: /, '')))

/** What the AI SDK builds of a stream. */
async function built(parts: readonly WirePart[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const part of parts) if (part.type !== 'error') controller.enqueue(part as unknown as UIMessageChunk)
      controller.close()
    },
  })
  let newest: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) newest = message
  return newest
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

verifies(
  ['contract-12.ai-sdk', 'contract-12.ai-sdk-messages', 'contract-12.one-log'],
  'of every reply the AI SDK builds the message that is stored, from the same bytes however they were gathered',
  async () => {
    await fc.assert(
      fc.asyncProperty(reply, fc.array(fc.nat(), { maxLength: 5 }), async (one, cuts) => {
        const frames = framesOf(one)
        const wire = encoded(createUiMessageEncoder(replyId), frames, cuts)
        expect(wire).toBe(encoded(createUiMessageEncoder(replyId), frames, []))
        const sent = partsIn(wire)
        expect(await refusedBySdk(sent)).toEqual([])
        const { metadata: _, ...message } = uiMessageOf([messageOf(one)], () => '')
        // The SDK shows the beginning of a step with its first part; stored, a reply without any has one all the same.
        const parts = message.parts.length > 1 ? message.parts : []
        expect(json(await built(sent))).toEqual({ ...message, parts })
      }),
      { numRuns: samples(40, 200) },
    )
  },
)

/** Plays the stream to AG-UI's own client, which refuses events that are out of order. */
async function ran(wire: string): Promise<HttpAgent> {
  const agent = new HttpAgent({
    url: 'http://agent',
    threadId: 't',
    initialMessages: [{ id: 'u', role: 'user', content: 'go' }],
    fetch: async () => new Response(wire, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }),
  })
  await agent.runAgent({ runId: 'r' })
  return agent
}

verifies(
  ['contract-12.ag-ui', 'contract-12.one-log'],
  'of every reply AG-UI’s client builds one message with all text and calls, and one for each result',
  async () => {
    await fc.assert(
      fc.asyncProperty(reply, fc.array(fc.nat(), { maxLength: 5 }), async (one, cuts) => {
        const frames = framesOf(one)
        const encoder = () => createRunEncoder({ threadId: 't', runId: 'r' }, replyId)
        const wire = encoded(encoder(), frames, cuts)
        expect(wire).toBe(encoded(encoder(), frames, []))
        const { messages } = await ran(wire)
        const events = eventsOf(one)
        const textOf = (type: string) =>
          events.map((event) => (event.type === type && 'text' in event ? event.text : ''))
        const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event] : []))
        const shown = (role: string) => messages.filter((message) => message.role === role)
        const [answer, ...more] = shown('assistant')
        expect(more).toEqual([])
        expect([answer?.id ?? replyId, answer?.content ?? '']).toEqual([replyId, textOf('text').join('')])
        expect(
          shown('reasoning')
            .map(({ content }) => content)
            .join(''),
        ).toBe(textOf('reasoning').join(''))
        const called = answer?.role === 'assistant' ? (answer.toolCalls ?? []) : []
        expect(called.map((one) => [one.function.name, one.function.arguments])).toEqual(
          calls.map((one) => [one.name, one.arguments]),
        )
        const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))
        expect(answered.sort()).toEqual(called.map(({ id }) => id).sort())
      }),
      { numRuns: samples(40, 200) },
    )
  },
)
