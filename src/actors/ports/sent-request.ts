/** What a model turn was sent, for storage (contract section 16). Types only: persistence implements them. */

import type { LeftReason } from './history.ts'
import type { ModelRequest } from './model.ts'

/** The stored form: `body` is JSON with references to what is stored elsewhere. */
export interface SentRequest {
  turn: number
  at: Date
  providerId: string
  model: string
  body: string
  /** What `body` refers to and may not be stored yet: prompts, tool definitions. `hash`: SHA-256, in hexadecimal. */
  texts: readonly { hash: string; content: string }[]
  /** Position of the first stored message that was sent. Null when none of the earlier ones was. */
  historyFrom: number | null
  /** Why those before were not sent. Null when all was. */
  left: LeftReason | null
}

/** The requests of one reply. */
export interface RequestWriter {
  /** Null when the turn's newest request was the same. */
  write(turn: number, request: ModelRequest, body: object): SentRequest | null
}
