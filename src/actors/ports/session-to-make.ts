/** A session that is made with its first message. Types only. */

import type { ReplyEvent } from '../reply/reply-event.ts'

/** A message that a session is made with. It is complete, and has no frames. */
export interface GivenMessage {
  role: 'user' | 'assistant'
  content: string
  /** Texts, calls and results of a reply that called tools, in order. Absent when the content is all there is. */
  events?: readonly ReplyEvent[]
}

/** The session that a message makes where there is none: with the message, or not at all. */
export interface SessionToMake {
  /** Its id at a front end. Null when it has none. */
  externalId: string | null
  /** The number of the client secret that makes it. Null when there is none. */
  secretNumber: number | null
  /** What it holds before the message. Absent when it is empty. */
  begins?: {
    /** A model's may replace it. Null when none can be derived. */
    title: string | null
    metadata: Readonly<Record<string, string>>
    /** Oldest first. */
    messages: readonly GivenMessage[]
  }
}
