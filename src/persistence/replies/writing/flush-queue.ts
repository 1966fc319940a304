/** The appends that wait for the next flush: all that gather while a write is under way go along with the next one. */

import type { Journal } from '../../../actors/ports/index.ts'
import type { StoredEvent } from '../../../actors/reply/reply-event.ts'
import { pause } from '../../../async/pause.ts'
import type { ReplyFrames } from '../settling/stored-reply.ts'
import { createPace, leastPace } from './flush-pace.ts'

export type Verdict = 'stored' | 'fenced' | 'refused'

export interface Append extends ReplyFrames {
  resolve(verdict: Verdict | 'withdrawn'): void
  /** An earlier try, whose answer was lost, may have stored it. */
  maybeStored?: boolean | undefined
  /** The time (ms, monotonic) at which the first try began that the server canceled, though nothing else was in it. */
  canceledAt?: number | undefined
}

/** An append that waits for its turn. `events` is null where they are taken then. */
interface Waiting extends Omit<Append, 'events'> {
  events: readonly StoredEvent[] | null
  take(): readonly StoredEvent[]
}

export interface FlushQueue {
  append: Journal['append']
  withdraw: Journal['withdraw']
  /** Queues it once more, after `ms`; one that was canceled alone goes alone again. */
  again(append: Append, ms: number): void
}

/** Characters of one flush, about. Thousands of replies that hold 1 MiB each after an outage are no single statement. */
const MAX_FLUSH = 8 << 20

/** The time that counts as lately (ms): after that much quiet a reply is alone. */
const LATELY_MS = 100

/** Creates the queue. `store` gets all that gathered, of one epoch, and never rejects. */
export function createFlushQueue(store: (batch: readonly Append[], epoch: number) => Promise<void>): FlushQueue {
  let queue: Waiting[] = []
  let writing = false
  /** Appends since the last write began or ended, and the most of late. */
  let came = 0
  let crowd = 1
  let wroteAt = 0
  const pace = createPace()

  /** Takes what goes along now: all that waits, or as much of it as one statement may hold. */
  function takeBatch(): Append[] {
    let size = 0
    let count = 0
    const batch: Append[] = []
    for (const { reply, events, take, resolve, maybeStored, canceledAt } of queue) {
      const goesAlone = canceledAt !== undefined
      if (size >= MAX_FLUSH || (goesAlone && count > 0)) break
      const taken = events ?? take()
      for (const { event } of taken) size += 'text' in event ? event.text.length : JSON.stringify(event).length
      batch.push({ reply, events: taken, resolve, maybeStored, canceledAt })
      count += 1
      if (goesAlone) break
    }
    queue = queue.slice(count)
    return batch
  }

  function countCrowd(): void {
    crowd = Math.max(came, crowd >> 1)
    came = 0
  }

  async function writeAll(): Promise<void> {
    countCrowd()
    while (queue.length > 0) {
      const begin = performance.now()
      const batch = takeBatch()
      for (const [epoch, appends] of Map.groupBy(batch, ({ reply }) => reply.epoch)) await store(appends, epoch)
      pace.flushed(batch.length)
      countCrowd()
      const left = batch.length === 1 ? 0 : pace.ms() - (performance.now() - begin)
      if (left >= 1) await pause(left)
    }
    writing = false
    wroteAt = performance.now()
  }

  function push(waiting: Waiting): void {
    queue.push(waiting)
    came += 1
    if (writing) return
    writing = true
    if (performance.now() - wroteAt > LATELY_MS) crowd = 1
    // One reply alone waits for nothing. Else all that the network brings in this turn of the event loop comes along.
    if (crowd <= 1) void writeAll()
    else setImmediate(() => void writeAll())
  }

  return {
    append: (reply, take) =>
      new Promise((resolve) => {
        // At low load each delta is a frame of its own; under load deltas are merged until the write starts.
        push({ reply, events: pace.ms() > leastPace ? null : take(), take, resolve })
      }),
    withdraw(replyId) {
      const at = queue.findIndex(({ reply }) => reply.id === replyId)
      const waiting = queue[at]
      // What was tried once may be stored.
      if (waiting === undefined || waiting.maybeStored || waiting.canceledAt !== undefined) return
      queue.splice(at, 1)
      waiting.resolve('withdrawn')
    },
    again(append, ms) {
      const waiting = { ...append, take: () => append.events }
      if (ms === 0) push(waiting)
      else setTimeout(push, ms, waiting)
    },
  }
}
