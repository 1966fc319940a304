/** A reply log on a journal that the test holds, and readers of its frames. */
import type { Journal, ReplyInfo } from '../../../src/actors/ports/index.ts'
import type { Frame, Outcome, ReplyEvent, StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { createReplyLog, type ReplyLog } from '../../../src/actors/reply/reply-log.ts'
import { into } from '../../support/streams/take.ts'
import { turn } from '../turn.ts'

export const info: ReplyInfo = {
  id: 'r',
  sessionId: 's',
  sessionNum: 1,
  firstSeq: 5,
  model: 'm',
  createdAt: '2026-01-01T00:00:00.000Z',
  includeUsage: true,
  instanceId: 'i',
  epoch: 1,
}
export const usage = { promptTokens: 1, completionTokens: 2, estimated: false }
export const finished: Outcome = { type: 'finished', reason: 'stop', usage }
export const endedAt = '2026-01-01T00:00:01.000Z'
export const settledAt = '2026-01-01T00:00:02.000Z'
export const close = (log: ReplyLog) => log.close({ outcome: finished, endedAt, settledAt })
const never = new AbortController().signal
export const text = (value: string): ReplyEvent => ({ type: 'text', text: value })

/** A journal whose writes are answered one by one, by the test. */
export function heldJournal() {
  const stored: StoredEvent[] = []
  type How = 'stored' | 'fenced' | 'refused' | 'withdrawn'
  const waiting: { events: readonly StoredEvent[]; answer(how: How): void }[] = []
  const append: Journal['append'] = (_, take) =>
    new Promise((resolve) => {
      const events = take()
      const answer = (how: How) => {
        if (how === 'stored') stored.push(...structuredClone(events))
        resolve(how)
      }
      waiting.push({ events, answer })
    })
  const settle = async (how: 'stored' | 'fenced' | 'refused' = 'stored') => {
    waiting.shift()?.answer(how)
    await turn()
  }
  /** Of a journal whose writes have not begun. */
  const withdraw = () => waiting.shift()?.answer('withdrawn')
  return { append, withdraw, stored, waiting, settle }
}

const instant: Journal['append'] = async (_, take) => {
  take()
  return 'stored'
}
export const openLog = (append: Journal['append'] = instant, onRefused = () => {}) =>
  createReplyLog(info, { append, withdraw() {}, onStored() {}, onRefused })

export async function collect(log: ReplyLog, after: number): Promise<Frame[]> {
  const frames: Frame[] = []
  await log.read(after, never, into(frames))
  return frames
}

/** Starts to read at once; `frames` grows. */
export function follow(log: ReplyLog, after: number, signal: AbortSignal = never) {
  const frames: Frame[] = []
  const done = log.read(after, signal, into(frames))
  done.catch(() => {})
  return { frames, done }
}
