/** The steps of session machines, as they are recorded (contract section 16). Types only: features/traces implements them. */

import type { LeftReason } from './history.ts'

/** A step of the machine, or a note of what happened within a state. */
export type StepKind = 'transition' | 'note'

export type StepDetail = Record<string, string | number | boolean | null>

/** A step of a session's machine, as recorded. `detail` holds codes, counts and ids, never content. */
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
  /** The request of an attempt of a model turn. */
  request?: SentRequest
  /** An earlier try, whose answer was lost, may have stored it. */
  maybeStored?: boolean
}

export interface TransitionRecorder {
  record(step: TransitionRecord): void
  /** Changes a step that is not written yet. False when it is. */
  amend(step: TransitionRecord, changes: Pick<TransitionRecord, 'detail' | 'request'>): boolean
  /**
   * Removes the waiting steps of the reply that `last` ends, so that its settlement stores them with `last`: one statement and
   * one row less. Null when they are stored here instead: older ones of the session are not stored yet, which these would
   * overtake, or they are large, or may be stored already.
   */
  settling(last: TransitionRecord & { messageId: string }): SettlingSteps | null
  /**
   * Subscribes a listener to every step as soon as it is stored, for live views. Returns the function that
   * unsubscribes.
   */
  subscribe(listener: (step: TransitionRecord) => void): () => void
  /** Resolves when everything recorded so far is stored, or the database is away. */
  flush(): Promise<void>
}

export interface SettlingSteps {
  readonly steps: readonly TransitionRecord[]
  /** Forgets the steps, which the settlement has stored. Call this function or one of the next two. */
  stored(): void
  /** Puts the steps back, since the settlement has not stored them: they are stored here, all or without the last. */
  putBack(withLast: boolean): void
  /** Drops the steps: their session was deleted. */
  drop(): void
}

/** The stored form: `body` is JSON with references to what is stored elsewhere. */
export interface SentRequest {
  turn: number
  at: Date
  providerId: string
  model: string
  body: string
  /**
   * The texts that `body` refers to and that may not be stored yet: prompts, tool definitions. `hash`: SHA-256, in
   * hexadecimal.
   */
  texts: readonly { hash: string; content: string }[]
  /** Position of the first stored message that was sent. Null when none of the earlier ones was. */
  historyFrom: number | null
  /** The reason for which those before were not sent. Null when all was. */
  left: LeftReason | null
}
