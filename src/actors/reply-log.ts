/**
 * A running reply as an append-only log. The generation pushes events; one append at a time takes them to the journal;
 * what is stored goes into the frame log, which is all that readers see.
 *
 * I1. No reader sees an event that is not stored. Kept by reply-log.test.ts, "I1". (I2 and I3 are frame-log.ts's.)
 */
import { createFrameLog, type FrameLog } from './frame-log.ts'
import type { Journal, Place, ReplyInfo } from './ports.ts'
import type { ReplyEvent, StoredEvent } from './reply-event.ts'

/** Unstored text that one reply may hold before it stops reading from the provider (characters). */
const MAX_UNSTORED = 1 << 20

type Verdict = Awaited<ReturnType<Journal['append']>>

export interface ReplyLog extends Omit<FrameLog, 'push'> {
  /** Since when (ms, monotonic) something waits to be stored; null when everything is. */
  unstoredSince(): number | null
  /** The newest stored event. */
  place(): Place
  push(events: readonly ReplyEvent[]): void
  /** Resolves when there is room for more (back-pressure towards the provider); nothing when there is. */
  room(): Promise<void> | undefined
  /** Resolves when all that was pushed is stored, or never will be. */
  stored(): Promise<Verdict>
  /** All that is stored, in order. Lacks what was stored after a cut. */
  said(): StoredEvent[]
}

export interface ReplyLogOptions {
  append: Journal['append']
  /** Events behind the place `after` were stored just now. */
  onStored(after: Place, events: readonly StoredEvent[]): void
  /** The journal refused a frame of this reply: it must end. */
  onRefused(): void
}

/** Characters, about: a tool's result may be as long as many texts. */
function sizeOf(event: ReplyEvent): number {
  if (event.type === 'text') return event.text.length
  return 1024 + (event.type === 'tool_call' ? event.arguments.length : event.content.length)
}

/** What waits to be stored, numbered as it comes: texts have ids, tool events lie behind them. */
function createBuffer(firstSeq: number) {
  let pending: StoredEvent[] = []
  let seq = firstSeq
  let part = 0
  return {
    isEmpty: () => pending.length === 0,
    push(event: ReplyEvent): void {
      const last = pending.at(-1)
      if (event.type === 'text' && last?.event.type === 'text') {
        // What gathers until the next write becomes one frame: fewer, larger frames are the back-pressure.
        last.event = { type: 'text', text: last.event.text + event.text }
        return
      }
      if (event.type === 'text') [seq, part] = [seq + 1, 0]
      else part += 1
      pending.push({ seq, part, event })
    },
    take(): StoredEvent[] {
      const taken = pending
      pending = []
      return taken
    },
  }
}

export function createReplyLog(info: ReplyInfo, { append, onStored, onRefused }: ReplyLogOptions): ReplyLog {
  const frames = createFrameLog(info)
  const buffer = createBuffer(info.firstSeq)
  const idle: (() => void)[] = []
  let place: Place = { seq: info.firstSeq, part: 0 }
  let unstoredSize = 0 // what is being written included
  let inFlight = false
  let verdict: Verdict = 'stored'
  let unstoredSince: number | null = null

  const settleIdle = () => {
    for (const resolve of idle.splice(0)) resolve()
  }

  const isFull = () => unstoredSize > MAX_UNSTORED && verdict === 'stored'
  async function untilRoom(): Promise<void> {
    while (isFull()) await new Promise<void>((resolve) => idle.push(resolve))
  }

  // One append at a time keeps the order.
  async function flush(): Promise<void> {
    inFlight = true
    while (!buffer.isEmpty() && verdict === 'stored') {
      let size = 0
      let batch: StoredEvent[] = []
      verdict = await append(info, () => {
        size = unstoredSize
        batch = buffer.take()
        return batch
      })
      if (verdict === 'refused') onRefused()
      if (verdict !== 'stored') break
      if (batch.length > 0) {
        frames.push(batch)
        onStored(place, batch)
        place = placeOf(batch.at(-1)) ?? place
      }
      unstoredSince = buffer.isEmpty() ? null : performance.now()
      unstoredSize = Math.max(0, unstoredSize - size)
      settleIdle()
    }
    inFlight = false
    settleIdle()
  }

  return {
    info,
    state: frames.state,
    subscribers: frames.subscribers,
    unstoredSince: () => unstoredSince,
    place: () => place,
    push(events) {
      if (verdict !== 'stored' || frames.state() === 'dropped') return
      for (const event of events) {
        buffer.push(event)
        unstoredSize += sizeOf(event)
      }
      unstoredSince ??= performance.now()
      if (!inFlight) void flush()
    },
    room: () => (isFull() ? untilRoom() : undefined),
    async stored() {
      while (inFlight) await new Promise<void>((resolve) => idle.push(resolve))
      return verdict
    },
    said: frames.said,
    close: frames.close,
    cut: frames.cut,
    drop() {
      buffer.take()
      unstoredSize = 0
      unstoredSince = null
      frames.drop()
      settleIdle()
    },
    read: frames.read,
  }
}

const placeOf = (event: StoredEvent | undefined): Place | null => (event ? { seq: event.seq, part: event.part } : null)
