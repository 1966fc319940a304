/**
 * A running reply as an append-only log. The generation pushes events, one append at a time stores them in the journal,
 * and stored events go into the frame log, which is all that readers see.
 *
 * I1. No reader sees an event that is not stored. Kept by reply-log.test.ts, "I1". (I2 and I3 are frame-log.ts's.)
 */

import type { Journal, Place, ReplyInfo } from '../ports/index.ts'
import { createFrameLog, type Ended, type FrameLog } from './frame-log.ts'
import { createReplyBuffer, type ReplyBuffer } from './reply-buffer.ts'
import type { ReplyEvent, StoredEvent } from './reply-event.ts'

/** Most unstored text of a reply; above it the provider is not read (characters). */
const MAX_UNSTORED = 1 << 20

type Verdict = Exclude<Awaited<ReturnType<Journal['append']>>, 'withdrawn'>

export interface ReplyLog extends Omit<FrameLog, 'push' | 'close'> {
  /** Returns when (ms, monotonic) the oldest unstored event came; null if everything is stored. */
  unstoredSince(): number | null
  /** Returns the newest stored event. */
  place(): Place
  /** Returns the frame of the newest stored event, and when the database had confirmed it (ms since 1970). */
  newest(): { frame: number; storedAt: number }
  push(events: readonly ReplyEvent[]): void
  /** Resolves when there is room for more (back-pressure on the provider). Undefined when there is room. */
  room(): Promise<void> | undefined
  /** Resolves when everything that was pushed is stored, or never will be. */
  stored(): Promise<Verdict>
  /**
   * Ends the writing: nothing more is pushed. Resolves when all is stored but the texts whose write has not begun, which
   * are for the settlement to store, and shown by `close`. `events`: all that was pushed; null when they are not known
   * here, because the log was cut or a write refused.
   */
  finish(): Promise<{ verdict: Verdict; events: readonly StoredEvent[] | null }>
  close(ended: Ended): void
  /**
   * Hands the log over, since another instance goes on with the reply. The frames are kept, for its readers here.
   * Nothing more is stored.
   */
  handOver(): FrameLog
}

export interface ReplyLogOptions {
  append: Journal['append']
  withdraw: Journal['withdraw']
  /** Tells that events after the place `after` were stored. */
  onStored(after: Place, events: readonly StoredEvent[]): void
  /** Ends the reply, of which the journal has refused a frame. */
  onRefused(): void
}

type StoringOptions = Omit<ReplyLogOptions, 'onStored'> & { onStored(events: readonly StoredEvent[]): void }

/** Creates the waiting room of callers that wait for a write to finish. */
function createWaiters() {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    release(): void {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

/** Stores what is in the buffer, one append at a time: that preserves the order. */
function createStoring(info: ReplyInfo, buffer: ReplyBuffer, options: StoringOptions) {
  const waiters = createWaiters()
  let inFlight = false
  let isHeld = false
  let verdict: Verdict = 'stored'
  let unstoredSince: number | null = null

  const isFull = () => buffer.size() > MAX_UNSTORED && verdict === 'stored'
  async function untilRoom(): Promise<void> {
    while (isFull()) await waiters.wait()
  }

  async function run(): Promise<void> {
    inFlight = true
    while (!buffer.isEmpty() && verdict === 'stored' && !isHeld) {
      let batch: readonly StoredEvent[] = []
      const answer = await options.append(info, () => {
        batch = buffer.take()
        return batch
      })
      if (answer === 'withdrawn') {
        buffer.putBack()
        break
      }
      verdict = answer
      if (verdict === 'refused') options.onRefused()
      if (verdict !== 'stored') break
      options.onStored(batch)
      unstoredSince = buffer.isEmpty() ? null : performance.now()
      buffer.written()
      waiters.release()
    }
    inFlight = false
    waiters.release()
  }

  return {
    verdict: () => verdict,
    unstoredSince: () => unstoredSince,
    push(events: readonly ReplyEvent[]): void {
      for (const event of events) buffer.push(event)
      unstoredSince ??= performance.now()
      if (!inFlight) void run()
    },
    room: () => (isFull() ? untilRoom() : undefined),
    async stored(): Promise<Verdict> {
      while (inFlight) await waiters.wait()
      return verdict
    },
    /** Holds events that no write has taken in the buffer, until `goOn`. */
    hold(): void {
      isHeld = true
      options.withdraw(info.id)
    },
    async goOn(): Promise<void> {
      isHeld = false
      await run()
    },
    drop(): void {
      buffer.take()
      buffer.written()
      unstoredSince = null
      waiters.release()
    },
  }
}

/** Creates the log of a reply. `events`: those that another instance has stored of it. */
export function createReplyLog(
  info: ReplyInfo,
  { onStored, ...options }: ReplyLogOptions,
  events: readonly StoredEvent[] = [],
): ReplyLog {
  const frames = createFrameLog(info)
  frames.push(events)
  let place: Place = placeOf(events.at(-1)) ?? { seq: info.firstSeq, part: 0 }
  const buffer = createReplyBuffer(place)
  let storedAt = Date.now()
  /** The events for the settlement to store. */
  let left: readonly StoredEvent[] = []

  const isOpen = () => frames.state() === 'open'
  const tell = (events: readonly StoredEvent[]) => {
    storedAt = Date.now()
    onStored(place, events)
    place = placeOf(events.at(-1)) ?? place
  }
  const storing = createStoring(info, buffer, {
    ...options,
    onStored(events) {
      if (events.length === 0) return
      frames.push(events)
      tell(events)
    },
  })

  return {
    info,
    state: frames.state,
    subscribers: frames.subscribers,
    unstoredSince: storing.unstoredSince,
    place: () => place,
    newest: () => ({ frame: place.seq, storedAt }),
    push(events) {
      if (storing.verdict() === 'stored' && frames.state() !== 'dropped') storing.push(events)
    },
    room: storing.room,
    stored: storing.stored,
    async finish() {
      const isHeld = isOpen() && buffer.isText()
      if (isHeld) storing.hold()
      await storing.stored()
      if (isHeld && !isOpen()) await storing.goOn()
      const verdict = storing.verdict()
      if (verdict !== 'stored' || !isOpen()) return { verdict, events: null }
      left = buffer.take()
      return { verdict, events: [...frames.events(), ...left] }
    },
    events: frames.events,
    close(ended) {
      if (left.length > 0 && isOpen()) tell(left)
      frames.close(ended, left)
    },
    handOver() {
      storing.drop()
      return frames
    },
    cut: frames.cut,
    drop() {
      storing.drop()
      frames.drop()
    },
    read: frames.read,
  }
}

const placeOf = (event: StoredEvent | undefined): Place | null => (event ? { seq: event.seq, part: event.part } : null)
