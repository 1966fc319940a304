/**
 * The stored frames of one reply as an append-only log with cursors, for replies that run here (`reply-log.ts`) and for
 * those that run elsewhere and are followed here (`remote-reply.ts`).
 *
 * Readers hold a cursor into one shared array, so a slow one costs nothing. (I1 is in reply-log.ts.)
 * I2. Every reader sees the same frames after the same id, whenever it starts. Kept by frame-log.test.ts, "I2".
 * I3. A log ends once: closed with its outcome, cut without a last frame, or dropped because its session was
 *     deleted. Kept by frame-log.test.ts, "I3".
 */
import type { ReplyInfo, Take } from '../ports/index.ts'
import {
  closingFrames,
  errorOf,
  type Frame,
  frameOf,
  isNumberedKind,
  kindOf,
  type Outcome,
  restStateOf,
  type StoredEvent,
  storedEventOf,
} from './reply-event.ts'

/** The stream broke off: nothing more can be shown now; a later read returns the outcome. */
export class StreamCut extends Error {
  constructor(message = 'The reply cannot be stored at the moment; its outcome can be read later.') {
    super(message)
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

/** The end of a reply, and its times (ISO 8601 UTC). */
export interface Ended {
  outcome: Outcome
  endedAt: string
  settledAt: string
}

/** A log ends in one of three ways. Only the first call has an effect. */
export interface FrameLog extends Reply {
  state(): LogState
  subscribers(): number
  /** Appends stored events, in order. */
  push(events: readonly StoredEvent[]): void
  /** Returns all events that were pushed, in order. Lacks what came after a cut. */
  events(): StoredEvent[]
  /** Ends the log. `last`: the events that were stored along with the outcome, and are shown along with it. */
  close(ended: Ended, last?: readonly StoredEvent[]): void
  /** Cuts the log: nothing more is shown, and readers' streams break off. */
  cut(): void
  /** Ends the log of a deleted session: readers get one last error chunk, which is stored nowhere. */
  drop(): void
}

/** Returns the frames that open every reply. */
const openingFrames = (info: ReplyInfo): Frame[] => [
  { seq: info.firstSeq, type: 'started' },
  { seq: info.firstSeq, type: 'state', state: 'streaming.generating', at: info.createdAt },
]

/** Returns the frames between the last text and the end: the states of the machine, for debugging. */
const settlingFrames = (seq: number, { outcome, endedAt, settledAt }: Ended): Frame[] => [
  { seq, type: 'state', state: 'streaming.settling', at: endedAt },
  { seq, type: 'state', state: restStateOf(outcome), at: settledAt },
]

const deletedFrame = (seq: number): Frame => ({
  seq,
  type: 'failed',
  error: errorOf('session_deleted', 'The session was deleted.'),
})

/** Finds the index of the first frame after the id `after`. Frames are in order, so a binary search finds it. */
export function indexAfter(frames: readonly Frame[], after: number): number {
  let low = 0
  let high = frames.length
  while (low < high) {
    const middle = (low + high) >> 1
    const frame = frames[middle]
    if (frame !== undefined && (frame.seq > after || (frame.seq === after && !isNumberedKind(kindOf(frame)))))
      high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Forgets encoded bytes, which are shared at the live end only, among the readers that get a frame at the same time.
 * Kept for the whole reply, they were two thirds of what garbage collections moved. Late readers encode for themselves.
 */
function forgetBytes(frames: readonly Frame[], first: number): void {
  for (let at = first; at < frames.length; at++) {
    const frame = frames[at]
    if (frame) frame.wire = undefined
  }
}

/** The state that a log shares with its readers. */
interface Shared {
  readonly frames: Frame[]
  /** The readers' functions: each delivers everything that is available and fits. */
  readonly readers: Set<() => void>
  state: LogState
  /** Index of the first frame that every reader of an ended reply gets. */
  closingAt: number
  /** The indices of frames that name the model of those after them, ascending. */
  readonly models: number[]
}

export function createFrameLog(info: ReplyInfo): FrameLog {
  const frames = openingFrames(info)
  const log: Shared = { frames, readers: new Set(), state: 'open', closingAt: Number.POSITIVE_INFINITY, models: [] }

  const add = (events: readonly StoredEvent[]) => {
    for (const event of events) {
      if (event.event.type === 'model') log.models.push(frames.length)
      frames.push(frameOf(event))
    }
  }
  const deliver = (first: number) => {
    for (const handOn of log.readers) handOn()
    forgetBytes(frames, first)
  }
  // Ids that were never shown are free: closing frames follow the newest stored frame.
  const newest = () => frames.at(-1)?.seq ?? info.firstSeq
  const end = (how: LogState, last: readonly Frame[]) => {
    const first = frames.length
    // Pending calls are content that clients add up: a client that has them does not get them again.
    log.closingAt = last[0]?.type === 'calls' ? first + 1 : first
    frames.push(...last)
    log.state = how
    deliver(first)
  }

  return {
    info,
    state: () => log.state,
    subscribers: () => log.readers.size,
    push(events) {
      if (log.state !== 'open') return
      const first = frames.length
      add(events)
      deliver(first)
    },
    events: () => frames.map(storedEventOf).filter((event) => event !== null),
    close(ended, last = []) {
      if (log.state !== 'open') return
      add(last)
      const seq = newest()
      frames.push(...settlingFrames(seq, ended))
      end('closed', closingFrames(ended.outcome, seq + 1, info.includeUsage))
    },
    cut() {
      if (log.state === 'open') end('cut', [])
    },
    drop() {
      if (log.state === 'open') end('dropped', [deletedFrame(newest() + 1)])
    },
    read: (after, signal, take) => readFrames(log, after, signal, take),
  }
}

async function readFrames(log: Shared, after: number, signal: AbortSignal, take: Take<Frame>): Promise<void> {
  if (signal.aborted) return
  const { frames, readers } = log
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Whatever id the reader starts from, it gets the closing frames of a finished reply.
  let index = Math.min(indexAfter(frames, after), log.closingAt)
  let isHeld = false
  // A reader that begins after a change of the model has to know of it.
  const named = log.models.findLast((at) => at < index)
  let missed = named === undefined ? [] : frames.slice(named, named + 1)
  const handOn = () => {
    if (isHeld || signal.aborted) return
    try {
      while (!isHeld && index < frames.length) {
        const batch = missed.length > 0 ? [...missed, ...frames.slice(index)] : frames.slice(index)
        index = frames.length
        missed = []
        const room = take(batch)
        isHeld = room !== undefined
        room?.then(goOn, reject)
      }
    } catch (error) {
      readers.delete(handOn) // the read ends a microtask later: nothing may be delivered in between
      return reject(error)
    }
    if (isHeld || log.state === 'open') return
    if (log.state === 'cut') reject(new StreamCut())
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
}
