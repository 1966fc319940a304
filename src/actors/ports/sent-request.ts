/** What a model turn was sent, for whoever keeps it (contract section 16). Types only: persistence implements them. */

import type { ModelRequest } from './model.ts'

/** As it is stored: `body` is JSON with references to what is stored elsewhere. */
export interface SentRequest {
  turn: number
  at: Date
  providerId: string
  model: string
  body: string
  /** What `body` refers to and may not be stored yet: prompts, tool definitions. `hash`: SHA-256, in hexadecimal. */
  texts: readonly { hash: string; content: string }[]
  /** Position of the first stored message that was sent. Null: of the earlier ones none was. */
  historyFrom: number | null
}

/** Of one reply. */
export interface RequestWriter {
  /** Null: the turn's newest request was the same. */
  write(turn: number, request: ModelRequest, body: object): SentRequest | null
}
