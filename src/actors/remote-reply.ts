/**
 * The same read as a log's, for a reply that nobody runs here: finished, or owned by another instance. The database
 * is asked again until the outcome is there.
 */
import type { Journal, StoredReply } from './ports.ts'
import { closingFrames, type Frame, type Outcome } from './reply-event.ts'
import { deletedFrame, indexAfter, openingFrames, settlingFrames } from './reply-log.ts'

/** A reconnect elsewhere follows the stored frames within 0.5 s (contract section 7). */
const POLL_MS = 250

/** The state in which an outcome leaves its session. */
export function restStateOf(outcome: Outcome): 'complete' | 'error' | 'cancelled' {
  if (outcome.type === 'failed') return 'error'
  return outcome.reason === 'cancelled' ? 'cancelled' : 'complete'
}

/** A stored reply as frames; those that end it lie at `closingAt` (its length while it runs). */
export function framesOf(stored: StoredReply): { frames: Frame[]; closingAt: number } {
  const frames = openingFrames(stored.info)
  let lastSeq = stored.info.firstSeq
  for (const { seq, event } of stored.events) {
    frames.push({ seq, ...event })
    lastSeq = seq
  }
  if (stored.outcome === null || stored.endedAt === null || stored.settledAt === null) {
    return { frames, closingAt: frames.length }
  }
  frames.push(...settlingFrames(lastSeq, stored.endedAt, stored.settledAt, restStateOf(stored.outcome)))
  const closingAt = frames.length
  frames.push(...closingFrames(stored.outcome, lastSeq + 1, stored.info.includeUsage))
  return { frames, closingAt }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

/**
 * Frames after the id `after`, as `ReplyLog.read` gives them; `first` is the whole reply as read just now. Rejects
 * when the database can't be reached.
 */
export async function* readStored(
  read: Journal['read'],
  first: StoredReply,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Frame[], void> {
  let shown: number | null = null // the newest id that this reader has passed; null before the first read
  let shownFrames = 0
  while (!signal.aborted) {
    // The whole reply once, then from the newest frame shown: rows may be folded between two reads, ids stay.
    const stored: StoredReply | null = shown === null ? first : await read(first.info.id, shown - 1)
    if (stored === null) {
      yield [deletedFrame((shown ?? after) + 1)]
      return
    }
    const { frames, closingAt } = framesOf(stored)
    const start: number =
      shown === null ? Math.min(indexAfter(frames, after), closingAt) : skip(frames, shown, shownFrames)
    const batch = frames.slice(start)
    shown = frames.at(-1)?.seq ?? stored.info.firstSeq
    shownFrames = frames.filter((frame) => frame.seq === shown).length
    if (batch.length > 0) yield batch
    if (stored.outcome !== null) return
    await pause(POLL_MS, signal)
  }
}

/** Index behind the `count` frames of id `seq` that were shown, so that tool events of that id are not repeated. */
function skip(frames: readonly Frame[], seq: number, count: number): number {
  const first = frames.findIndex((frame) => frame.seq >= seq)
  if (first < 0) return frames.length
  let index = first
  while (index < frames.length && index < first + count && frames[index]?.seq === seq) index += 1
  return index
}
