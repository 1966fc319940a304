/** Readers who come back to a reply, and the room that unstored events take (contract sections 4, 13 and 15). */
import { expect, test } from 'vitest'
import { createFrameLog } from '../../../src/actors/reply/frame-log.ts'
import { createReplyBuffer } from '../../../src/actors/reply/reply-buffer.ts'
import type { Frame, ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { into } from '../../support/streams/take.ts'
import { verifies } from '../../verifies.ts'
import { endedAt, finished, info, settledAt, text, usage } from './reply-log-scene.ts'

const stored = (seq: number, part: number, event: ReplyEvent) => ({ seq, part, event })
const named = (model: string): ReplyEvent => ({ type: 'model', model, providerId: 'p' })

async function readAfter(log: ReturnType<typeof createFrameLog>, after: number): Promise<string[]> {
  const frames: Frame[] = []
  await log.read(after, new AbortController().signal, into(frames))
  return frames.map((frame) => {
    if (frame.type === 'text') return frame.text
    if (frame.type !== 'stored') return frame.type
    const { event } = frame.stored
    return event.type === 'model' ? `model ${event.model}` : event.type
  })
}

verifies('contract-13.fallback-names', 'who comes back is told the newest model before what it made', async () => {
  const log = createFrameLog(info)
  log.push([stored(5, 1, named('one')), stored(6, 0, text('a')), stored(6, 1, named('two')), stored(7, 0, text('b'))])
  log.push([stored(8, 0, text('c'))])
  log.close({ outcome: finished, endedAt, settledAt })
  const rest = ['state', 'state', 'finished', 'usage', 'done']
  expect(await readAfter(log, 7)).toEqual(['model two', 'c', ...rest])
  expect(await readAfter(log, 6)).toEqual(['model one', 'model two', 'b', 'c', ...rest])
})

verifies('contract-15.shown', 'who has the calls that wait does not get them again, but the end', async () => {
  const log = createFrameLog(info)
  log.push([stored(6, 0, text('a'))])
  const calls = [{ id: 'c', name: 'look', arguments: '{}' }]
  log.close({ outcome: { type: 'finished', reason: 'tool_calls', usage, calls }, endedAt, settledAt })
  expect(await readAfter(log, 6)).toEqual(['state', 'state', 'calls', 'finished', 'usage', 'done'])
  expect(await readAfter(log, 7)).toEqual(['finished', 'usage', 'done'])
  expect(await readAfter(log, 99)).toEqual(['finished', 'usage', 'done'])
})

test('nothing is added to a log that was cut', () => {
  const log = createFrameLog(info)
  log.push([stored(6, 0, text('a'))])
  log.cut()
  log.push([stored(7, 0, text('b'))])
  expect(log.events()).toEqual([stored(6, 0, text('a'))])
})

test('reasoning until the next write is one frame, and a long result takes its room', () => {
  const buffer = createReplyBuffer({ seq: 5, part: 0 })
  buffer.push({ type: 'reasoning', text: 'a' })
  buffer.push({ type: 'reasoning', text: 'b' })
  buffer.push(text('c'))
  expect(buffer.take().map(({ event }) => event)).toEqual([{ type: 'reasoning', text: 'ab' }, text('c')])
  expect(buffer.size()).toBe(3)
  buffer.putBack()
  expect([buffer.size(), buffer.isEmpty()]).toEqual([3, false])
  buffer.take()
  buffer.written()
  expect(buffer.size()).toBe(0)
  buffer.push({ type: 'tool_result', id: 'c', ok: true, content: 'x'.repeat(100_000), durationMs: 1 })
  expect(buffer.size()).toBeGreaterThan(100_000)
})
