/** Earlier messages, as they are read to be sent to a model. Types only. */

import type { CallDecision, ReplyEvent } from '../reply/reply-event.ts'
import type { MessagePart } from './parts.ts'

/** The newest messages of a path, oldest first. `isWhole`: they begin with its first one. */
export interface History {
  messages: HistoryMessage[]
  isWhole: boolean
  /** The summary in place of the messages before them. Null when there is none. Null when nothing does. */
  checkpoint: Checkpoint | null
  /** The measures of the last request for the path's newest reply. Null when it is not known. */
  before: SentBefore | null
  /** The parts of outputs behind the user's message at its end, where a reply goes on from there. Absent without any. */
  outputs?: readonly MessagePart[]
}

/** The reason for which a part of the history was not sent. */
export type LeftReason = 'budget' | 'provider_limit' | 'compacted'

/** The summary of a path up to one of its messages. */
export interface Checkpoint {
  id: string
  /** Position of the last message that it covers. */
  position: number
  summary: string
}

/** The measures of a reply's last model request: stored with the reply, for the next one on its path. */
export interface SentBefore {
  /** Position of the first message that was sent. */
  from: number
  /** Tokens of the whole request: as they were estimated, without a correction. */
  estimated: number
  /** The tokens as the provider counted them. Null when it reported nothing. */
  reported: number | null
  /** The reason for which it began there. Null when it began with the conversation. */
  left: LeftReason | null
}

export interface HistoryMessage {
  /** ISO 8601 UTC: when it was stored. Absent when it was not asked for. */
  at?: string
  /** The position in its session. When absent, it is stored nowhere. */
  position?: number
  role: 'user' | 'assistant'
  content: string
  /** Parts of a user's message; of a reply, those of the outputs of its calls. */
  parts?: readonly MessagePart[]
  /** The calls and results of the reply's tools, in order. Absent or null when there is nothing. */
  toolEvents?: readonly HistoryToolEvent[] | null
  /** The decisions about its calls that were pending. Absent or null when none was. */
  decided?: readonly HistoryDecision[] | null
  /** A reply that ended so has no words: what was asked was too long for every model. Absent or null: it is another. */
  isTooLong?: true | null
}

/** `begun`: it may have taken effect. `content`: its result. */
export interface HistoryDecision {
  id: string
  decision: CallDecision | null
  arguments: string | null
  output: string | null
  reason: string | null
  begun: boolean
  content: string | null
}

/**
 * All events but those that no later model call is told of, which are named here. `end`: how much of the content, in UTF-8
 * bytes, came before it.
 */
export interface HistoryToolEvent {
  end: number
  event: Exclude<ReplyEvent, { type: 'text' | 'reasoning' | 'tool_begun' | 'tool_asked' | 'tool_unknown' | 'model' }>
}

/** The part of the history that is worth reading. */
export interface HistoryLimits {
  /** Whether messages come with their times. */
  withTimes?: true
  /** The tokens of all text, roughly. */
  maxBytes: number
  /** Characters (code points) of a tool's arguments or result; what is longer comes cut, but longer than this. */
  maxToolText: number
}

/** The material of a reply's first request: all of it is stored already. */
export interface RequestHistory {
  /** Earlier messages as they were read, oldest first. */
  earlier: readonly HistoryMessage[]
  /** The oldest of them that is sent. Null when none is. */
  first: HistoryMessage | null
  /** The newest user message. */
  asked: string
  /** True when it goes on from a reply that waited: messages since the question are no part of it alone. */
  isContinued: boolean
  /** The number of the request's messages that it makes up. */
  count: number
  /** The reason for which something is left out. Null when all of the conversation is sent. */
  left: LeftReason | null
  /** The summary before the first user message. Absent when there is nothing. */
  summary?: SentSummary
}

/** A checkpoint as it is sent: its summary between two lines. */
export interface SentSummary {
  id: string
  pieces: readonly [before: string, summary: string, after: string]
}
