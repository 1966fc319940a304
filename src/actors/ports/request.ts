/** The settings of a request next to its message, and the session that it makes. Types only. */

import type { ReplyEvent } from '../reply/reply-event.ts'
import type { AnswerFields, ReasoningEffort } from './answer-fields.ts'
import type { ToolChoice, ToolSpec } from './model.ts'
import type { Origin } from './observer.ts'
import type { MessagePart } from './parts.ts'
import type { Carried } from './waiting.ts'

/**
 * The settings of a request of the Responses API, as its response repeats it (contract section 24). It is on the wire
 * for ever: a field is added as an optional one.
 */
export interface ResponseRequest {
  /** Version of the encoder that numbers its events, in replies of before: see ReplyFacts. */
  encoder?: number
  background: boolean
  metadata: Readonly<Record<string, string>>
  /** The number of messages that it gave its new session before its own. Absent when it gave none. */
  given?: number
  /** The response that it names, where it stands behind a copy of that. */
  behind?: string
  /** Absent when it brought one message with one text. */
  cuts?: MessageCuts
  instructions?: string
  maxOutputTokens?: number
  maxToolCalls?: number
  parallelToolCalls?: boolean
  toolChoice?: unknown
  tools?: readonly Record<string, unknown>[]
  /** Form of the text. */
  format?: Record<string, unknown>
  /** The request's, else the agent's. */
  effort?: ReasoningEffort
  safetyIdentifier?: string
  /** The agent's, as they were when it was sent. */
  temperature?: number
  topP?: number
}

/** The places in a stored message at which the request began another one, and another text. */
export interface MessageCuts {
  /** The beginnings of further messages: each is separated from the one before by an empty line. */
  messages?: readonly number[]
  /** The beginnings of texts that follow a text directly. */
  texts?: readonly number[]
}

/**
 * The behaviour of a message while a reply runs: it is refused, ends the reply first, waits, or ends it at its next
 * boundary.
 */
export type OnBusy = 'reject' | 'interrupt' | 'enqueue' | 'steer'

/** The settings of a request as they are stored with its message: see stored-input.ts. */
export interface QueuedInput {
  /** The user whose session it must be. Null stands for any user. */
  user: string | null
  /** The sender as decisions record it. Null when the sender has no name. */
  by: string | null
  includeUsage: boolean
  reasoning: boolean
  fields: AnswerFields
  /** Absent when the request brings none. */
  callerTools?: { tools: readonly ToolSpec[]; choice: ToolChoice | null }
  includeActions: boolean
  /** Null when the request brings none. */
  instructions: { texts: readonly string[]; where: string } | null
  /** The playground's, as they were sent. Null when there is none. */
  overrides: object | null
  /** Absent when another API than the Responses API asked for it. */
  response?: ResponseRequest
  /** The request. Null when there is none. */
  origin: Origin | null
}

/** A message that a session is made with. It is complete, and has no frames. */
export interface GivenMessage {
  /** A UUID. When absent, one is made. */
  id?: string
  role: 'user' | 'assistant'
  content: string
  /** Pictures and files of a user's message, whose contents are stored. Absent when it has none. */
  storedParts?: readonly MessagePart[]
  /** Texts, calls and results of a reply that called tools, in order. Absent when the content is all there is. */
  events?: readonly ReplyEvent[]
}

/** The summary of a conversation that stands before all messages of a session. */
export interface GivenSummary {
  text: string
  /** The model that made it. */
  model: string
}

/** The session that a message makes where there is none: with the message, or not at all. */
export interface SessionToMake {
  /** The id at a front end. It is null when it has none. */
  externalId: string | null
  /** The number of the client secret that makes it. It is null when there is none. */
  secretNumber: number | null
  /** The contents before the message. Absent when it is empty. */
  begins?: {
    /** A model's title may replace it. It is null when none can be derived. */
    title: string | null
    metadata: Readonly<Record<string, string>>
    /** Oldest first. */
    messages: readonly GivenMessage[]
    /** Absent when the messages are all there is. */
    summary?: GivenSummary
    /** The state in which the first reply goes on from the last message. Absent when it answers the user's message. */
    carried?: Carried
  }
}
