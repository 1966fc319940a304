/** Records each step of a session's machine and the notes between them, off the token path: they are written in batches. */

import type { SentRequest, Settled, TransitionRecord, TransitionRecorder } from '../../actors/ports/index.ts'
import { atMost } from '../../async/pause.ts'

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
/** Most steps that a settlement stores with its reply, see `Settlement.steps`. */
const MOST_SETTLED = 64
/** Most characters of requests that a settlement stores with its reply. */
const MOST_SETTLED_TEXT = 2 ** 16
/** The time a flush waits for settlements that hold steps: these retry while the database cannot be reached. */
const SETTLING_MS = 1000

/** The subjects of notes. */
export type NoteKind = 'attempt' | 'model' | 'tool' | 'handover'

/** The recorder with what traces need of it besides. */
export interface TraceRecorder extends TransitionRecorder {
  /** Changes a step that is not written yet. False when it is. */
  amend(step: TransitionRecord, changes: Pick<TransitionRecord, 'detail' | 'request'>): boolean
  /**
   * Subscribes a listener to every step as soon as it is stored, for live views. Returns the function that
   * unsubscribes.
   */
  subscribe(listener: (step: TransitionRecord) => void): () => void
}

export interface TransitionStore {
  record(batch: readonly TransitionRecord[]): Promise<void>
}

const textIn = (request: SentRequest | undefined): number =>
  request === undefined ? 0 : request.texts.reduce((sum, { content }) => sum + content.length, request.body.length)

/** Creates the queue of steps that wait for the database, in order. */
function createQueue() {
  let steps = new Set<TransitionRecord>()
  /** Waiting steps of replies, by the reply's id. */
  const byReply = new Map<string, TransitionRecord[]>()
  /** The number of waiting steps of each session. */
  const bySession = new Map<string, number>()
  /** Characters of the requests among them. */
  let text = 0
  function index(): void {
    text = 0
    byReply.clear()
    bySession.clear()
    for (const step of steps) {
      text += textIn(step.request)
      file(step)
    }
  }
  function count(sessionId: string, more: number): void {
    const waiting = (bySession.get(sessionId) ?? 0) + more
    if (waiting > 0) bySession.set(sessionId, waiting)
    else bySession.delete(sessionId)
  }
  function file(step: TransitionRecord): void {
    count(step.sessionId, 1)
    if (step.messageId === null) return
    const others = byReply.get(step.messageId)
    if (others === undefined) byReply.set(step.messageId, [step])
    else others.push(step)
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
      file(step)
      if (step.request) keepRequest(step, step.request)
    },
    setRequest(step: TransitionRecord, request: SentRequest): void {
      text -= textIn(step.request)
      keepRequest(step, request)
    },
    /** Returns the oldest steps, as many as are written together. What may be stored is written again as it was, alone. */
    take(): TransitionRecord[] {
      const batch: TransitionRecord[] = []
      let written = 0
      for (const step of steps) {
        written += textIn(step.request)
        if (batch[0]?.maybeStored ? !step.maybeStored : written > MOST_WRITTEN_TEXT && batch.length > 0) break
        batch.push(step)
      }
      if (batch.length === steps.size) steps = new Set()
      else for (const step of batch) steps.delete(step)
      index()
      return batch
    },
    of: (replyId: string): readonly TransitionRecord[] => byReply.get(replyId) ?? [],
    ofSession: (sessionId: string): number => bySession.get(sessionId) ?? 0,
    takeOf(replyId: string): readonly TransitionRecord[] {
      const taken = byReply.get(replyId) ?? []
      byReply.delete(replyId)
      for (const step of taken) {
        steps.delete(step)
        text -= textIn(step.request)
        count(step.sessionId, -1)
      }
      return taken
    },
    putBack(batch: readonly TransitionRecord[]): void {
      steps = new Set([...batch, ...steps].slice(-MAX_WAITING))
      index()
    },
  }
}

/** Returns whether the steps are too large for the settling statement, or hold texts that are stored separately. */
const isLarge = (steps: readonly TransitionRecord[]): boolean =>
  steps.length >= MOST_SETTLED ||
  steps.some(({ request }) => request !== undefined && request.texts.length > 0) ||
  steps.reduce((sum, { request }) => sum + textIn(request), 0) > MOST_SETTLED_TEXT

type LastStep = Parameters<TransitionRecorder['settle']>[0]
type Settle = Parameters<TransitionRecorder['settle']>[1]

interface Recording {
  isBeingWritten(sessionId: string): boolean
  tell(stored: readonly TransitionRecord[]): void
  putBack(steps: readonly TransitionRecord[]): void
}

/** Keeps the settlements that hold steps and are not over. */
function createSettlements(waiting: ReturnType<typeof createQueue>, { isBeingWritten, tell, putBack }: Recording) {
  const running = new Set<Promise<Settled>>()

  /**
   * Returns whether the waiting steps of the reply that `last` ends go with its settlement. They do not when older ones of the
   * session are not stored yet, which these would overtake, when they are large, or may be stored already.
   */
  function mayGoAlong({ messageId, sessionId }: LastStep): boolean {
    const own = waiting.of(messageId)
    if (isLarge(own) || own.some(({ maybeStored }) => maybeStored)) return false
    return !isBeingWritten(sessionId) && waiting.ofSession(sessionId) === own.length
  }

  /** Settles with the reply's steps. What is not stored of them then is stored here. */
  async function settleWithSteps(last: LastStep, settle: Settle): Promise<Settled> {
    const before = waiting.takeOf(last.messageId)
    const steps = [...before, last]
    let left = before
    try {
      const settled = await settle(steps)
      if (settled.result === 'gone') left = [] // so is their session
      if (settled.result === 'settled') left = settled.leftSteps ? steps : []
      if (settled.result === 'settled' && !settled.leftSteps) tell(steps)
      return settled
    } finally {
      if (left.length > 0) putBack(left)
    }
  }

  return {
    async settle(last: LastStep, settle: Settle): Promise<Settled> {
      if (!mayGoAlong(last)) return await settle()
      const settling = settleWithSteps(last, settle)
      running.add(settling)
      return await settling.finally(() => running.delete(settling))
    },
    async over(): Promise<void> {
      if (running.size > 0) await atMost(SETTLING_MS, Promise.allSettled(running))
    },
  }
}

export function createTransitionRecorder(store: TransitionStore, onError: (error: unknown) => void): TraceRecorder {
  const waiting = createQueue()
  /** The write under way. Resolves to false when the database is down; the write is then repeated later. */
  let writing: Promise<boolean> | null = null
  let written: readonly TransitionRecord[] = [] // now
  let timer: NodeJS.Timeout | null = null
  const listeners = new Set<(step: TransitionRecord) => void>()

  function tell(stored: readonly TransitionRecord[]): void {
    for (const step of stored) for (const listener of listeners) listener(step)
  }

  async function write(): Promise<boolean> {
    if (waiting.isEmpty()) return true
    const batch = waiting.take()
    written = batch
    try {
      await store.record(batch)
    } catch (error) {
      onError(error)
      for (const step of batch) step.maybeStored = true
      waiting.putBack(batch)
      return false
    } finally {
      written = []
    }
    tell(batch)
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

  function putBack(steps: readonly TransitionRecord[]): void {
    waiting.putBack(steps)
    if (writing === null) startAfter(GATHER_MS)
  }

  const settlements = createSettlements(waiting, {
    isBeingWritten: (sessionId) => written.some((step) => step.sessionId === sessionId),
    tell,
    putBack,
  })
  return {
    record(step) {
      waiting.add(step)
      if (writing === null) startAfter(GATHER_MS)
    },
    settle: settlements.settle,
    amend(step, { detail, request }) {
      if (!waiting.has(step) || step.maybeStored) return false
      step.detail = detail
      if (request) waiting.setRequest(step, request)
      return true
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async flush() {
      await settlements.over()
      if (writing !== null && !(await writing)) return
      const last = waiting.last()
      // Another flush may already have started with the waiting steps.
      if (writing !== null && !(await writing)) return
      while (last && waiting.has(last)) if (!(await start())) return
    },
  }
}
