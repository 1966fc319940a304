/**
 * A running reply as an append-only log. Writers push events; one append at a time takes them to the journal; readers
 * hold a cursor and see what is stored.
 *
 * I1. No reader sees an event that is not stored. Kept by reply-log.test.ts, "I1".
 * I2. Every reader sees the same frames after the same id, whenever it comes. Kept by reply-log.test.ts, "I2".
 * I3. A log ends once: closed with its outcome, cut without a last frame, or dropped because its session was
 *     deleted. Kept by reply-log.test.ts, "I3".
 */
import type { Journal, ReplyInfo } from './ports.ts'
import {
  closingFrames,
  type Frame,
  isNumbered,
  type Outcome,
  type ReplyEvent,
  type StoredEvent,
} from './reply-event.ts'

/** Unstored text that one reply may hold before it stops reading from the provider (characters). */
const MAX_UNSTORED = 1 << 20

/** The stream broke off: nothing more can be said now, a later read will tell how it ended. */
export class StreamCut extends Error {
  constructor() {
    super('The reply can not be stored at the moment; its outcome can be read later.')
  }
}

export interface ReplyLog {
  readonly info: ReplyInfo
  /** Since when (ms, monotonic) something waits to be stored; null when everything is. */
  readonly unstoredSince: number | null
  /** Open: readers may attach. Cut and dropped logs are read from the database instead. */
  readonly state: 'open' | 'closed' | 'cut' | 'dropped'
  readonly subscribers: number
  push(event: ReplyEvent): void
  /** Resolves when there is room for more (back-pressure towards the provider). */
  room(): Promise<void>
  /** Resolves when all that was pushed is stored, or never will be. */
  stored(): Promise<'stored' | 'fenced' | 'refused'>
  close(outcome: Outcome, endedAt: string, settledAt: string, restState: string): void
  cut(): void
  /** The session was deleted: readers get one last error chunk, which is stored nowhere. */
  drop(): void
  /**
   * Frames after the id `after`, in batches, until the log ends or `signal` aborts. An id ahead of a running log
   * counts as its newest one; of a finished one the closing frames always come. Rejects with StreamCut.
   */
  read(after: number, signal: AbortSignal): AsyncGenerator<readonly Frame[], void>
}

/** Frames that open every reply. */
export const openingFrames = (info: ReplyInfo): Frame[] => [
  { seq: info.firstSeq, type: 'started' },
  { seq: info.firstSeq, type: 'state', state: 'streaming.generating', at: info.createdAt },
]

/** The frames between the last text and the end: what the machine did, for those who debug. */
export const settlingFrames = (seq: number, endedAt: string, settledAt: string, restState: string): Frame[] => [
  { seq, type: 'state', state: 'streaming.settling', at: endedAt },
  { seq, type: 'state', state: restState, at: settledAt },
]

export const deletedFrame = (seq: number): Frame => ({
  seq,
  type: 'failed',
  error: { code: 'session_deleted', message: 'The session was deleted.', detail: 'The session was deleted.' },
})

/** Index of the first frame that lies after the id `after`. Frames are in order, so a binary search finds it. */
export function indexAfter(frames: readonly Frame[], after: number): number {
  let low = 0
  let high = frames.length
  while (low < high) {
    const middle = (low + high) >> 1
    const frame = frames[middle]
    if (frame !== undefined && (frame.seq > after || (frame.seq === after && !isNumbered(frame)))) high = middle
    else low = middle + 1
  }
  return low
}

/** Characters, about: a tool's result may be as long as many texts. */
function sizeOf(event: ReplyEvent): number {
  if (event.type === 'text') return event.text.length
  return 1024 + (event.type === 'tool_call' ? event.arguments.length : event.content.length)
}

export interface ReplyLogOptions {
  append: Journal['append']
  /** The journal refused a frame of this reply: it must end. */
  onRefused(): void
}

export function createReplyLog(info: ReplyInfo, { append, onRefused }: ReplyLogOptions): ReplyLog {
  const frames: Frame[] = openingFrames(info)
  const waiters = new Set<() => void>()
  const idle: (() => void)[] = []
  let pending: StoredEvent[] = []
  let unstoredSize = 0 // what is being written included
  let inFlight = false
  let verdict: 'stored' | 'fenced' | 'refused' = 'stored'
  let unstoredSince: number | null = null
  let state: ReplyLog['state'] = 'open'
  let lastSeq = info.firstSeq
  let lastPart = 0
  let closingAt = Number.POSITIVE_INFINITY
  let subscribers = 0

  const wake = () => {
    const waking = [...waiters]
    waiters.clear()
    for (const resolve of waking) resolve()
  }
  const settleIdle = () => {
    for (const resolve of idle.splice(0)) resolve()
  }

  // One append at a time keeps the order; what gathers meanwhile goes with the next, as fewer, larger frames.
  async function flush(): Promise<void> {
    inFlight = true
    while (pending.length > 0 && verdict === 'stored') {
      const batch = pending
      const size = unstoredSize
      pending = []
      const result = await append(info, batch)
      if (result !== 'stored') {
        verdict = result
        if (result === 'refused') onRefused()
        break
      }
      if (state === 'open') for (const { seq, event } of batch) frames.push({ seq, ...event })
      unstoredSince = pending.length > 0 ? performance.now() : null
      unstoredSize = Math.max(0, unstoredSize - size)
      settleIdle()
      wake()
    }
    inFlight = false
    settleIdle()
  }

  return {
    info,
    get unstoredSince() {
      return unstoredSince
    },
    get state() {
      return state
    },
    get subscribers() {
      return subscribers
    },
    push(event) {
      if (verdict !== 'stored' || state === 'dropped') return
      const last = pending.at(-1)
      if (event.type === 'text' && last?.event.type === 'text') {
        last.event = { type: 'text', text: last.event.text + event.text }
      } else if (event.type === 'text') {
        lastSeq += 1
        lastPart = 0
        pending.push({ seq: lastSeq, part: 0, event })
      } else {
        lastPart += 1
        pending.push({ seq: lastSeq, part: lastPart, event })
      }
      unstoredSize += sizeOf(event)
      unstoredSince ??= performance.now()
      if (!inFlight) void flush()
    },
    async room() {
      while (unstoredSize > MAX_UNSTORED && verdict === 'stored') {
        await new Promise<void>((resolve) => idle.push(resolve))
      }
    },
    async stored() {
      while (inFlight) await new Promise<void>((resolve) => idle.push(resolve))
      return verdict
    },
    close(outcome, endedAt, settledAt, restState) {
      if (state !== 'open') return
      // Behind the newest stored frame, as the database counts: what was refused has no id.
      const newest = frames.at(-1)?.seq ?? info.firstSeq
      frames.push(...settlingFrames(newest, endedAt, settledAt, restState))
      closingAt = frames.length
      frames.push(...closingFrames(outcome, newest + 1, info.includeUsage))
      state = 'closed'
      wake()
    },
    cut() {
      if (state !== 'open') return
      state = 'cut'
      wake()
    },
    drop() {
      if (state !== 'open') return
      state = 'dropped'
      pending = []
      unstoredSize = 0
      unstoredSince = null
      // Ids that nobody has seen are free again: the last frame shown decides.
      closingAt = frames.length
      frames.push(deletedFrame((frames.at(-1)?.seq ?? info.firstSeq) + 1))
      settleIdle()
      wake()
    },
    async *read(after, signal) {
      let resolve = () => {}
      const release = () => resolve()
      signal.addEventListener('abort', release)
      subscribers += 1
      try {
        // A finished reply always says how it ended, whatever id the reader comes with.
        let index = Math.min(indexAfter(frames, after), closingAt)
        while (!signal.aborted) {
          if (index < frames.length) {
            const batch = frames.slice(index)
            index = frames.length
            yield batch
          } else if (state === 'open') {
            await new Promise<void>((wakeUp) => {
              resolve = wakeUp
              waiters.add(wakeUp)
            })
            waiters.delete(resolve)
          } else if (state === 'cut') {
            throw new StreamCut()
          } else {
            return
          }
        }
      } finally {
        subscribers -= 1
        signal.removeEventListener('abort', release)
      }
    },
  }
}
