/**
 * A running reply as an append-only log. The generation pushes events, one append at a time stores them in the journal,
 * and stored events go into the frame log, which is all that readers see.
 *
 * I1. No reader sees an event that is not stored. Kept by reply-log.test.ts, "I1". (I2 and I3 are frame-log.ts's.)
 */
import { createFrameLog, type FrameLog } from './frame-log.ts'
import type { NewestFrame } from './ownership.ts'
import type { Journal, Place, ReplyInfo } from './ports.ts'
import { isNumberedKind, type ReplyEvent, type StoredEvent } from './reply-event.ts'

/** Most unstored text of a reply; above it the provider is not read (characters). */
const MAX_UNSTORED = 1 << 20

type Verdict = Awaited<ReturnType<Journal['append']>>

export interface ReplyLog extends Omit<FrameLog, 'push'> {
  /** Since when (ms, monotonic) something is unstored; null if everything is stored. */
  unstoredSince(): number | null
  /** The newest stored event. */
  place(): Place
  /** Its frame. */
  newest(): NewestFrame
  push(events: readonly ReplyEvent[]): void
  /** Resolves when there is room for more (back-pressure on the provider). Undefined: there is room. */
  room(): Promise<void> | undefined
  /** Resolves when everything that was pushed is stored, or never will be. */
  stored(): Promise<Verdict>
}

export interface ReplyLogOptions {
  append: Journal['append']
  /** Called when events after the place `after` were stored. */
  onStored(after: Place, events: readonly StoredEvent[]): void
  /** The journal refused a frame of this reply: it must end. */
  onRefused(): void
}

/** In characters, roughly: a tool's result may be as long as many texts. */
function sizeOf(event: ReplyEvent): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.text.length
    case 'tool_call':
      return 1024 + event.arguments.length
    case 'tool_result':
      return 1024 + event.content.length
    case 'tool_begun':
    case 'model':
      return 1024
  }
}

/** Unstored events, numbered in order: an event without an id of its own is a part of the one before it. */
function createBuffer(firstSeq: number) {
  let pending: StoredEvent[] = []
  let pendingSize = 0
  let writingSize = 0
  let seq = firstSeq
  let part = 0
  return {
    isEmpty: () => pending.length === 0,
    /** Size of what is pending and of what is being written, in characters, roughly. */
    size: () => pendingSize + writingSize,
    push(event: ReplyEvent): void {
      pendingSize += sizeOf(event)
      const last = pending.at(-1)
      // Texts until the next write become one frame: fewer, larger frames are the back-pressure.
      if (event.type === 'text' && last?.event.type === 'text') {
        last.event = { type: 'text', text: last.event.text + event.text }
        return
      }
      if (event.type === 'reasoning' && last?.event.type === 'reasoning') {
        last.event = { type: 'reasoning', text: last.event.text + event.text }
        return
      }
      if (isNumberedKind(event.type)) [seq, part] = [seq + 1, 0]
      else part += 1
      pending.push({ seq, part, event })
    },
    take(): StoredEvent[] {
      const taken = pending
      pending = []
      writingSize = pendingSize
      pendingSize = 0
      return taken
    },
    written(): void {
      writingSize = 0
    },
  }
}

/** Callers that wait for a write to finish. */
function createWaiters() {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    release(): void {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

export function createReplyLog(info: ReplyInfo, { append, onStored, onRefused }: ReplyLogOptions): ReplyLog {
  const frames = createFrameLog(info)
  const buffer = createBuffer(info.firstSeq)
  const waiters = createWaiters()
  let place: Place = { seq: info.firstSeq, part: 0 }
  let storedAt = Date.now()
  let inFlight = false
  let verdict: Verdict = 'stored'
  let unstoredSince: number | null = null

  const isFull = () => buffer.size() > MAX_UNSTORED && verdict === 'stored'
  async function untilRoom(): Promise<void> {
    while (isFull()) await waiters.wait()
  }

  // One append at a time preserves the order.
  async function flush(): Promise<void> {
    inFlight = true
    while (!buffer.isEmpty() && verdict === 'stored') {
      let batch: StoredEvent[] = []
      verdict = await append(info, () => {
        batch = buffer.take()
        return batch
      })
      if (verdict === 'refused') onRefused()
      if (verdict !== 'stored') break
      if (batch.length > 0) {
        storedAt = Date.now()
        frames.push(batch)
        onStored(place, batch)
        place = placeOf(batch.at(-1)) ?? place
      }
      unstoredSince = buffer.isEmpty() ? null : performance.now()
      buffer.written()
      waiters.release()
    }
    inFlight = false
    waiters.release()
  }

  return {
    info,
    state: frames.state,
    subscribers: frames.subscribers,
    unstoredSince: () => unstoredSince,
    place: () => place,
    newest: () => ({ frame: place.seq, storedAt }),
    push(events) {
      if (verdict !== 'stored' || frames.state() === 'dropped') return
      for (const event of events) buffer.push(event)
      unstoredSince ??= performance.now()
      if (!inFlight) void flush()
    },
    room: () => (isFull() ? untilRoom() : undefined),
    async stored() {
      while (inFlight) await waiters.wait()
      return verdict
    },
    events: frames.events,
    close: frames.close,
    cut: frames.cut,
    drop() {
      buffer.take()
      buffer.written()
      unstoredSince = null
      frames.drop()
      waiters.release()
    },
    read: frames.read,
  }
}

const placeOf = (event: StoredEvent | undefined): Place | null => (event ? { seq: event.seq, part: event.part } : null)
