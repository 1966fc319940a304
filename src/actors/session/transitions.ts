/** Records each step of a session's machine and the notes between them, off the token path: they are written in batches. */
import type { SentRequest } from '../ports/index.ts'

/** Most steps that wait for the database; beyond it the oldest are dropped, since replies take precedence. */
const MAX_WAITING = 50_000
/** Characters of requests that wait with them; beyond it steps go without theirs. */
const MOST_WAITING_TEXT = 64 * 2 ** 20
/** Characters of requests in one write: callers bring tools of megabytes, and no string holds more than 512 MiB. */
const MOST_WRITTEN_TEXT = 8 * 2 ** 20
const RETRY_MS = 1000
/**
 * Steps within this time are written together, and so are those that occur during a write: two statements a reply were
 * a fifth of the database load of sessions.
 */
const GATHER_MS = 100

/** A step of the machine, or a note of what happened within a state. */
const stepKinds = ['transition', 'note'] as const
export type StepKind = (typeof stepKinds)[number]

/** What notes are about. */
export type NoteKind = 'attempt' | 'model' | 'tool' | 'handover'

export type StepDetail = Record<string, string | number | boolean | null>

/** One step of a session's machine, as recorded. `detail` holds codes, counts and ids, never content. */
export interface TransitionRecord {
  sessionId: string
  at: Date
  from: string
  to: string
  event: string
  messageId: string | null
  detail: StepDetail
  /** A transition by default. */
  kind?: StepKind
  /** What the attempt of a model turn sent. */
  request?: SentRequest
}

export interface TransitionStore {
  record(batch: readonly TransitionRecord[]): Promise<void>
}

export interface TransitionRecorder {
  record(step: TransitionRecord): void
  /** Changes a step that is not written yet. False when it is. */
  amend(step: TransitionRecord, changes: Pick<TransitionRecord, 'detail' | 'request'>): boolean
  /** Called for every step as soon as it is stored, for live views. Returns the function that unsubscribes. */
  subscribe(listener: (step: TransitionRecord) => void): () => void
  /** Resolves when everything recorded so far is stored, or the database is away. */
  flush(): Promise<void>
}

const textIn = (request: SentRequest | undefined): number =>
  request === undefined ? 0 : request.texts.reduce((sum, { content }) => sum + content.length, request.body.length)

/** Steps that wait for the database, in order. */
function createQueue() {
  let steps = new Set<TransitionRecord>()
  /** Characters of the requests among them. */
  let text = 0
  const count = () => {
    text = 0
    for (const { request } of steps) text += textIn(request)
  }
  function keepRequest(step: TransitionRecord, request: SentRequest): void {
    const more = textIn(request)
    if (text + more > MOST_WAITING_TEXT) delete step.request
    else {
      step.request = request
      text += more
    }
  }
  return {
    isEmpty: () => steps.size === 0,
    has: (step: TransitionRecord) => steps.has(step),
    last: () => [...steps].at(-1),
    add(step: TransitionRecord): void {
      steps.add(step)
      if (step.request) keepRequest(step, step.request)
    },
    setRequest(step: TransitionRecord, request: SentRequest): void {
      text -= textIn(step.request)
      keepRequest(step, request)
    },
    /** The oldest, as many as are written together. */
    take(): TransitionRecord[] {
      const batch: TransitionRecord[] = []
      let written = 0
      for (const step of steps) {
        written += textIn(step.request)
        if (written > MOST_WRITTEN_TEXT && batch.length > 0) break
        batch.push(step)
      }
      if (batch.length === steps.size) steps = new Set()
      else for (const step of batch) steps.delete(step)
      count()
      return batch
    },
    putBack(batch: readonly TransitionRecord[]): void {
      steps = new Set([...batch, ...steps].slice(-MAX_WAITING))
      count()
    },
  }
}

export function createTransitionRecorder(
  store: TransitionStore,
  onError: (error: unknown) => void,
): TransitionRecorder {
  const waiting = createQueue()
  /** Resolves to false when the database is down; the write is then repeated later. */
  let writing: Promise<boolean> | null = null
  let timer: NodeJS.Timeout | null = null
  const listeners = new Set<(step: TransitionRecord) => void>()

  async function write(): Promise<boolean> {
    const batch = waiting.take()
    try {
      await store.record(batch)
    } catch (error) {
      onError(error)
      waiting.putBack(batch)
      return false
    }
    for (const step of batch) for (const listener of listeners) listener(step)
    return true
  }

  function start(): Promise<boolean> {
    if (timer) clearTimeout(timer)
    timer = null
    writing ??= write().then((isStored) => {
      writing = null
      if (!waiting.isEmpty()) startAfter(isStored ? GATHER_MS : RETRY_MS)
      return isStored
    })
    return writing
  }

  function startAfter(ms: number): void {
    timer ??= setTimeout(start, ms).unref()
  }

  return {
    record(step) {
      waiting.add(step)
      if (writing === null) startAfter(GATHER_MS)
    },
    amend(step, { detail, request }) {
      if (!waiting.has(step)) return false
      step.detail = detail
      if (request) waiting.setRequest(step, request)
      return true
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async flush() {
      if (writing !== null && !(await writing)) return
      const last = waiting.last()
      // Another flush may already have started with the waiting steps.
      if (writing !== null && !(await writing)) return
      while (last && waiting.has(last)) if (!(await start())) return
    },
  }
}
