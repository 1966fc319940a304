/**
 * The stored frames of one reply as an append-only log with cursors: of a reply that runs here (`reply-log.ts`) and of
 * one that is followed from elsewhere (`remote-reply.ts`) alike.
 *
 * Readers hold a cursor into one shared array, so a slow one costs nothing. (I1 is reply-log.ts's.)
 * I2. Every reader sees the same frames after the same id, whenever it comes. Kept by reply-log.test.ts, "I2".
 * I3. A log ends once: closed with its outcome, cut without a last frame, or dropped because its session was
 *     deleted. Kept by reply-log.test.ts, "I3".
 */
import type { ReplyInfo, Take } from './ports.ts'
import { closingFrames, type Frame, isNumbered, type Outcome, type StoredEvent } from './reply-event.ts'

/** The stream broke off: nothing more can be said now, a later read will tell how it ended. */
export class StreamCut extends Error {
  constructor() {
    super('The reply cannot be stored at the moment; its outcome can be read later.')
  }
}

/** A reply that can be read from any frame, wherever it runs or ran. */
export interface Reply {
  readonly info: ReplyInfo
  /**
   * Hands on the frames after the id `after`, in batches, the first of them at once; resolves when the reply has ended
   * or `signal` aborts. A promise from `take` holds back what follows until it resolves. An id ahead of a running reply
   * counts as its newest one; of a finished one the closing frames always come. Rejects with StreamCut when nothing
   * can be stored, or nothing read, at the moment; and with whatever `take` throws.
   */
  read(after: number, signal: AbortSignal, take: Take<Frame>): Promise<void>
}

/** Open: more may come. Cut and dropped logs are read from the database instead. */
export type LogState = 'open' | 'closed' | 'cut' | 'dropped'

/** How a reply ended, and when (ISO 8601 UTC). */
export interface Ended {
  outcome: Outcome
  endedAt: string
  settledAt: string
}

export interface FrameLog extends Reply {
  state(): LogState
  subscribers(): number
  /** Stored events, in order. */
  push(events: readonly StoredEvent[]): void
  /** All events that were pushed, in order. Lacks what came after a cut. */
  said(): StoredEvent[]
  close(ended: Ended): void
  cut(): void
  /** The session was deleted: readers get one last error chunk, which is stored nowhere. */
  drop(): void
}

/** The state in which an outcome leaves its session. */
export function restStateOf(outcome: Outcome): 'complete' | 'error' | 'cancelled' {
  if (outcome.type === 'failed') return 'error'
  return outcome.reason === 'cancelled' ? 'cancelled' : 'complete'
}

/** Frames that open every reply. */
const openingFrames = (info: ReplyInfo): Frame[] => [
  { seq: info.firstSeq, type: 'started' },
  { seq: info.firstSeq, type: 'state', state: 'streaming.generating', at: info.createdAt },
]

/** The frames between the last text and the end: what the machine did, for those who debug. */
const settlingFrames = (seq: number, { outcome, endedAt, settledAt }: Ended): Frame[] => [
  { seq, type: 'state', state: 'streaming.settling', at: endedAt },
  { seq, type: 'state', state: restStateOf(outcome), at: settledAt },
]

const deletedFrame = (seq: number): Frame => ({
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

/** Texts, which are nearly all, with a place for their bytes from the start: one object each, where there were two. */
const frameOf = (seq: number, event: StoredEvent['event']): Frame =>
  event.type === 'text' ? { seq, type: 'text', text: event.text, wire: undefined } : { ...event, seq }

/** The events that were stored as these frames: tool events are the parts after the frame before them. */
function eventsOf(frames: readonly Frame[]): StoredEvent[] {
  const events: StoredEvent[] = []
  let part = 0
  for (const frame of frames) {
    if (frame.type === 'text') {
      part = 0
      events.push({ seq: frame.seq, part, event: { type: 'text', text: frame.text } })
    } else if (frame.type === 'tool_call' || frame.type === 'tool_result') {
      part += 1
      const { seq, wire: _, ...event } = frame
      events.push({ seq, part, event })
    }
  }
  return events
}

/**
 * Bytes are shared at the live end only, among those who are handed a frame at once. Kept for all that a reply has said,
 * they were two thirds of what collections had to move; late readers encode for themselves.
 */
function forgetBytes(frames: readonly Frame[], first: number): void {
  for (let at = first; at < frames.length; at++) {
    const frame = frames[at]
    if (frame) frame.wire = undefined
  }
}

export function createFrameLog(info: ReplyInfo): FrameLog {
  const frames: Frame[] = openingFrames(info)
  /** What hands on, for each reader, all that is there and fits. */
  const readers = new Set<() => void>()
  let state: LogState = 'open'
  let closingAt = Number.POSITIVE_INFINITY

  const deliver = (first: number) => {
    for (const handOn of readers) handOn()
    forgetBytes(frames, first)
  }
  // Ids that nobody has seen are free: what ends the log stands behind the newest stored frame.
  const newest = () => frames.at(-1)?.seq ?? info.firstSeq
  const end = (how: LogState, last: readonly Frame[]) => {
    closingAt = frames.length
    frames.push(...last)
    state = how
    deliver(closingAt)
  }

  return {
    info,
    state: () => state,
    subscribers: () => readers.size,
    push(events) {
      if (state !== 'open') return
      const first = frames.length
      for (const { seq, event } of events) frames.push(frameOf(seq, event))
      deliver(first)
    },
    said: () => eventsOf(frames),
    close(ended) {
      if (state !== 'open') return
      const seq = newest()
      frames.push(...settlingFrames(seq, ended))
      end('closed', closingFrames(ended.outcome, seq + 1, info.includeUsage))
    },
    cut() {
      if (state === 'open') end('cut', [])
    },
    drop() {
      if (state === 'open') end('dropped', [deletedFrame(newest() + 1)])
    },
    async read(after, signal, take) {
      if (signal.aborted) return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      // A finished reply always says how it ended, whatever id the reader comes with.
      let index = Math.min(indexAfter(frames, after), closingAt)
      let isHeld = false
      const handOn = () => {
        if (isHeld || signal.aborted) return
        try {
          while (!isHeld && index < frames.length) {
            const batch = frames.slice(index)
            index = frames.length
            const room = take(batch)
            isHeld = room !== undefined
            room?.then(goOn, reject)
          }
        } catch (error) {
          readers.delete(handOn) // the reading ends a microtask later: nothing may come in between
          return reject(error)
        }
        if (isHeld || state === 'open') return
        if (state === 'cut') reject(new StreamCut())
        else resolve()
      }
      const catchUp = () => {
        const first = index
        handOn()
        forgetBytes(frames, first)
      }
      const goOn = () => {
        isHeld = false
        catchUp()
      }
      const leave = () => resolve()
      signal.addEventListener('abort', leave)
      readers.add(handOn)
      catchUp()
      try {
        await promise
      } finally {
        readers.delete(handOn)
        signal.removeEventListener('abort', leave)
      }
    },
  }
}
