/** The steps of session machines, as they are recorded (contract section 16). Types only. */

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
