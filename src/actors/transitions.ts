/** Records each step of a session's machine, off the token path: steps gather and are written in batches. */
import type { TransitionRecord, TransitionStore } from './ports.ts'

/** Steps that may wait for the database; beyond it the oldest are dropped, replies come first. */
const MAX_WAITING = 50_000
const RETRY_MS = 1000
/** Steps of so long go together: two statements a reply were a fifth of what sessions cost the database. */
const GATHER_MS = 100

export interface TransitionRecorder {
  record(step: TransitionRecord): void
  /** Told of every step as soon as it is stored, for live views. Returns the way to stop. */
  subscribe(listener: (step: TransitionRecord) => void): () => void
  /** Resolves when everything recorded so far is stored, or the database is away. */
  flush(): Promise<void>
}

export function createTransitionRecorder(
  store: TransitionStore,
  onError: (error: unknown) => void,
): TransitionRecorder {
  let waiting: TransitionRecord[] = []
  let writing: Promise<void> | null = null
  const listeners = new Set<(step: TransitionRecord) => void>()

  /** False: the database is away, and is asked again later. */
  async function writeAll(): Promise<boolean> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await store.record(batch)
      } catch (error) {
        onError(error)
        waiting = [...batch, ...waiting].slice(-MAX_WAITING)
        setTimeout(start, RETRY_MS).unref()
        return false
      }
      for (const step of batch) for (const listener of listeners) listener(step)
    }
    return true
  }

  function start(): Promise<void> {
    writing ??= writeAll().then((all) => {
      writing = null
      // A step that was recorded between the last look and here found a writer at work, and would wait for ever.
      return all && waiting.length > 0 ? start() : undefined
    })
    return writing
  }

  return {
    record(step) {
      waiting.push(step)
      if (writing === null && waiting.length === 1) setTimeout(start, GATHER_MS)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    flush: start,
  }
}
