/** The stored form of pending calls (contract section 15). Types only. */

import type { AnswerDecision, CallDecision, ServerAsked, ShownCall, UnmadeKind } from '../reply/reply-event.ts'
import type { AnswerFields } from './answer-fields.ts'
import type { ToolCall, ToolChoice, ToolSpec, TurnMessage } from './model.ts'

export interface WaitingCall extends ToolCall {
  /** An `UnmadeKind`, `input` where its server asks, or what the capability of its tool calls the wait. */
  kind: string
  /** The reply that asked, and the call's place among all of that reply's calls, from 1. Together they are its key. */
  replyId: string
  place: number
  /** The key of the tool that it was asked of. Absent for the caller's own tools, and when an older version asked. */
  tool?: string
  /** The questions that its server has asked in this reply. They are stored beside the call, not with the turn. */
  asked?: ServerAsked | undefined
}

/** A model's turn, of whose calls some may have no result yet. By place in the turn: `results`, `waiting`. */
export interface OpenTurn {
  answer: Extract<TurnMessage, { role: 'assistant' }>
  results: readonly (string | null)[]
  waiting: readonly (WaitingCall | null)[]
}

/** All turns since the user's message, of the reply that waits and of those that it continued. */
export interface Chain {
  /** Earlier turns, whole. */
  turns: readonly TurnMessage[]
  turn: OpenTurn
  /** Calls that count towards `maxToolCalls`. */
  callsUsed: number
}

/** The settings that a request has made for its reply and for those that continue it. */
export interface InForce {
  /** The caller's own. */
  tools: readonly ToolSpec[]
  /** Fields that change the answer. */
  fields: AnswerFields
  /** The playground's, as they were sent. Null when there is none. */
  overrides: object | null
}

/** All that the next reply needs of a reply that waits. It is stored: see persistence's stored-carried.ts. */
export interface Carried extends InForce {
  chain: Chain
  /** The first reply to the user's message. */
  firstId: string
}

/** The wishes of a request about what its readers see, for a reply that follows it without a request. */
export interface Asked {
  reasoning: boolean
  includeActions: boolean
  /** Seconds after which its approvals expire. Null: never. */
  expiresAfterS: number | null
}

/** The result of a call that the caller has made. */
export interface CallAnswer {
  id: string
  output: string
}

export interface DecidedCall {
  id: string
  decision: CallDecision
  /** The changed arguments of an approved call: JSON text of an object. */
  arguments?: string | undefined
  /** The text for the model instead of a result. */
  output?: string | undefined
  reason?: string | undefined
  remember?: RememberedCall | undefined
  /** The question that is decided, of a call whose server asks. */
  key?: string | undefined
  /** JSON text of an object: the form as it was filled in. */
  content?: string | undefined
  /** The answers that the server is sent with the call, once all of its questions are decided. */
  again?: Again | undefined
  /** Set for a call that a session answers already, which waited: nobody decides about the call itself. */
  joins?: boolean | undefined
  /** The session below this one that asks. Absent for a call of this session. */
  session?: string | undefined
}

/** The answers to a server's questions, for the call that is sent again. */
export interface Again {
  state?: string | undefined
  of: string
  answers: readonly { key: string; decision: AnswerDecision; content?: string | undefined }[]
}

/** The reach of a decision that is remembered (contract section 29). */
export interface RememberedCall {
  /** UUID of the decision. */
  id: string
  scope: 'session' | 'user'
  /** The key of the tool, and the id of its record; null for a built-in tool. */
  tool: string
  record_id: string | null
  /** The tool's name in the call. */
  name: string
  /** JSON object of the values that a call must have. Null: any. */
  arguments: string | null
  /** Hash of tool and arguments (hex): decisions of one reach replace each other. */
  reach: string
  by_secret: boolean
}

/** Decisions that were stored without a request, and what the reply that follows them goes on from. */
export interface StoredDecisions {
  carried: Carried
  decisions: readonly DecidedCall[]
  /** Milliseconds from the question to the last decision. */
  waitedMs: number
}

/** The wishes of a request about tools and their calls. */
export interface Actions {
  callerTools: readonly ToolSpec[]
  /** The tool choice of the first model call alone. Null stands for the provider's default. */
  toolChoice: ToolChoice | null
  /** False when nothing is stored, so nothing can wait but for the caller, who keeps the history. */
  canWait: boolean
  /** The kinds of waiting calls that the readers are shown. */
  shows: Readonly<Record<UnmadeKind, boolean>>
  /** Seconds after which approvals expire. Absent or null: never. */
  expiresAfterS?: number | null
  /** True when the readers are shown each turn's text apart, as the Responses API does. */
  turnsApart?: boolean
  /** True when the readers find a waiting call by its id alone, in whatever session it is. */
  uniqueIds?: boolean
  /** True in a session that has a parent: what any of its calls asks is shown in other sessions too. */
  hasParent?: boolean
  /** Calls that count already, in a history that the caller keeps. None by default. */
  callsUsed?: number
  /** The decided calls that the reply continues with. When absent, it answers a user's message. */
  continued?: { chain: Chain; decisions: readonly DecidedCall[] } | undefined
}

/** The end of a reply that waits. */
export interface Wait {
  chain: Chain
  shown: readonly ShownCall[]
}
