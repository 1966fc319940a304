/** The tools of a reply. Types only. */

import type { ReplyValues } from '../../templates/placeholders.ts'
import type { MissingServer, ServerAsked } from '../reply/reply-event.ts'
import type { ToolCall, ToolSpec } from './model.ts'
import type { MessagePart } from './parts.ts'
import type { StepDetail } from './steps.ts'
import type { Again } from './waiting.ts'

/** The tools of one reply. */
export interface Toolbox {
  readonly tools: readonly ToolSpec[]
  /** The tools behind the names of `tools`. Absent where none of them has an identity. */
  readonly own?: ReadonlyMap<string, OwnTool>
  /** Returns the elements of `approvals` that make a call wait. Absent when none does. */
  asking?(call: Omit<CallOfTool, 'id'>): Promise<readonly AskingElement[]>
  /** The MCP servers whose tools are missing. Absent when none is. */
  readonly missing?: MissingTools
  /**
   * Makes a call. One with `tool` goes to that tool, whatever it is called by now, and to no other. Never rejects but
   * on abort: a failure is a result that the model reads. `key` tells this call from all others, for tools that must
   * not act twice (contract section 10).
   */
  call(call: CallOfTool, signal: AbortSignal, key: string): Promise<ToolAnswer>
}

export type { MissingServer }

/** The notes of a tool about a call, for those who read the reply. The core stores them, and reads nothing of them. */
export interface CallNotes {
  /** Fields of the call's event. */
  event: object
  /** Fields of the call's step in the trace. */
  step: StepDetail
}

export interface MissingTools {
  servers: readonly MissingServer[]
  /** The servers with their reasons, as the model is told of them. */
  words: string
  /** Whether a reply fails rather than goes without them. */
  fails: boolean
}

/** The result of a call for the model to read, and to see. `pictures`: absent when there are none. */
export interface ToolAnswer {
  ok: boolean
  content: string
  pictures?: readonly MessagePart[]
  /** Set when the server asks first: there is no result yet. */
  asked?: ServerAsked | undefined
  /** Set when the call waits in its turn, for this (`WaitingCall.kind`): there is no result yet. */
  waits?: string | undefined
}

export interface OwnTool {
  /** The identity of the tool, whatever it is called. */
  key: string
  /** Whether some call of it may need approval. */
  needsApproval: boolean
  /** Returns what readers are told of a call, by its key. Absent when that is nothing. */
  notes?(key: string): CallNotes
  /**
   * Returns the row that is stored with a call's begin, in the same transaction (see `storeAlong`), by the call's key. Undefined
   * when there is none, as for a call that makes nothing.
   */
  start?(key: string, call: Pick<ToolCall, 'id' | 'arguments'>): object | undefined
}

/** An element of `approvals`: a condition on the arguments (null: every call), and what a client secret may remember. */
export interface AskingElement {
  when: Record<string, unknown> | null
  mayRemember: 'session' | 'user' | null
}

export interface CallOfTool extends ToolCall {
  /** The key of the tool that it was asked of. When absent, it is the tool that has the name. */
  tool?: string | undefined
  /** The answers to what its server asked, when the call is sent again. */
  again?: Again | undefined
  /** Set when a session answers the call already, which is waited for once more. */
  joins?: boolean | undefined
}

export interface CheckedToolbox extends Toolbox {
  /** Returns why a call cannot be made with these arguments, in words. Null when it can. */
  check(call: Omit<CallOfTool, 'id'>): Promise<string | null>
}

/**
 * The opener of a reply's tools. It is called once, when the generation begins: a server that does not answer may delay
 * the reply's first word, never the answer to the request that asked for it. May reject on abort.
 */
export type OpenToolbox = (signal: AbortSignal) => Promise<Toolbox>

/** The tools of an agent, for a reply with these values. */
export type OpenToolboxFor = (signal: AbortSignal, values: ReplyValues) => Promise<Toolbox>
