/** The model as a generation needs it: its requests, its events, the reports of its calls. Types only. */

import type { Counted, FinishReason, ReplyErrorCode } from '../reply/reply-event.ts'
import type { AgentFields, AnswerFields, ReasoningEffort } from './answer-fields.ts'
import type { RequestHistory } from './history.ts'
import type { MessagePart, Segment, UserMessage } from './parts.ts'

export type { Counted } from '../reply/reply-event.ts'

export interface GenerationConfig {
  temperature?: number
  topP?: number
  topK?: number
  maxToolCalls?: number
  reasoningEffort?: ReasoningEffort
  /** Most tokens of one answer of a model, reasoning included. */
  maxOutputTokens?: number
}

/** The two APIs of OpenAI and of those who offer the same. */
export type WireApi = 'chat_completions' | 'responses'

/** A provider as it is called: the key in plain text, which never leaves the process but towards `baseUrl`. */
export interface ProviderConnection {
  id: string
  type: string
  baseUrl: string | null
  apiKey: string | null
  /** Absent or null: the type knows one API only, or it is chat completions. */
  wireApi?: WireApi | null
}

export interface ToolCall {
  id: string
  name: string
  /** JSON text as the model wrote it; it may not parse. */
  arguments: string
}

/** `echo` as the end of the turn brought it: JSON, kept while its reply runs, and with calls that wait. */
type Answer = { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[]; echo?: object }
type ToolResult = { role: 'tool'; toolCallId: string; content: string }

/** A message of a model's turn: its answer, or the result of a call. It can be stored, unlike a result's pictures. */
export type TurnMessage = Answer | ToolResult

/**
 * A result of a call. `pictures`: what the tool showed beside its text. `segments`: text and parts of an output that the
 * caller gave, in order. Either is absent when there is none.
 */
export type ToolResultMessage = ToolResult & { pictures?: readonly MessagePart[]; segments?: readonly Segment[] }

/** `isBeginning`: the last message, which was interrupted. The model goes on behind it; what it repeats is not emitted. */
export type ModelMessage = UserMessage | (Answer & { isBeginning?: true }) | ToolResultMessage

export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
  /** The caller's word that arguments must keep to the schema, for providers that know it. */
  strict?: boolean
}

/** The tools that a model may or must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

/** A model at a provider. */
export interface ModelTarget {
  provider: ProviderConnection
  model: string
}

/** The ways to make a request with less history, for a model that takes less. Tokens are estimates. */
export interface Shortening {
  /** Tokens of the whole request. */
  tokens: number
  /** Tokens of the history in it. */
  historyTokens: number
  /** Returns the factor for these estimates where the provider counts so many tokens. 1 where it names none. */
  correction(counted: number | null): number
  /** Returns the changes for at most so many tokens of history. Null when that is no less than now. */
  to(historyTokens: number): Pick<ModelRequest, 'messages' | 'history' | 'shortening'> | null
}

export interface ModelRequest extends ModelTarget {
  system: string | null
  messages: readonly ModelMessage[]
  config: GenerationConfig
  /** The request's own. */
  fields?: AnswerFields
  /** The agent's, where the request names none. A fallback that does not take one of them is asked without it. */
  agentFields?: AgentFields
  /** Media types of what the request itself holds: a model that does not take one of them is not asked. */
  mediaTypes?: readonly string[]
  /** Asked in this order when the provider before fails with nothing said (contract section 13). */
  fallbacks?: readonly ModelTarget[]
  tools: readonly ToolSpec[]
  /** The tool choice. When absent, the provider's default applies. */
  toolChoice?: ToolChoice
  reasoning: boolean // request it where the provider supports it, and emit it
  /** The listener to calls. When absent, calls are not counted. */
  calls?: ProviderCalls
  /** The ways to make it with less history. Absent when it has none that could be left out. */
  shortening?: Shortening
  /** Most tokens before the newest message. When absent, the installation's setting holds. */
  historyMaxTokens?: number
  /** A history that comes near them is summarised. When absent, it is cut. */
  compacts?: true
  /** The stored material of the beginning of `messages`. When absent, nothing that is stored. */
  history?: RequestHistory
}

/** The reason for which a model call failed. `message` is fit for a caller, `detail` has the provider's full words. */
export interface ModelFailure {
  code: Extract<ReplyErrorCode, `provider_${string}` | 'context_length_exceeded' | 'internal'>
  message: string
  detail: string
}

/** The reason for which a model ended its turn. */
export type EndReason = Exclude<FinishReason, 'cancelled' | 'steered'>

/**
 * An event of a model turn. `activity` is a sign of life without text; with `output` it stands for something that the
 * model made (a piece of a tool call, reasoning unasked), not for a ping or a role alone; with `usageFollows` the
 * provider has announced that it will report usage. `usage` is what the provider has counted so far, for turns that do
 * not reach their end; the newest one counts. A turn ends with exactly one `end` or `failed`, after which nothing
 * comes; nothing at all comes after an abort. `echo`: what the vendor wants back with this turn's tool results (signed
 * reasoning); only the adapter that made it looks into it.
 */
export type ModelEvent =
  /** Comes before all others when another model than the first one answers, or is the last one that was asked. */
  | { type: 'model'; model: string; providerId: string }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  | { type: 'activity'; output?: true; usageFollows?: true }
  | { type: 'usage'; usage: Counted }
  | {
      type: 'end'
      reason: EndReason
      usage: Counted | null
      echo?: object
      /** The reason of the model's, or a filter's, refusal. Absent when it did not, or does not say. */
      refusal?: string
    }
  | { type: 'failed'; failure: ModelFailure }

/**
 * The receiver of events, in order: one call for all of one piece from the network. A call, not an iterator: a token
 * that is pulled through eight generators costs 12 µs of promises on its way (2 cores, Node 24). A promise in return
 * means that there is no room: nothing more comes until it resolves.
 */
export type Take<Event> = (events: readonly Event[]) => Promise<void> | undefined

export interface Model {
  /**
   * Runs one model turn; own retries, fallbacks and idle time-out included. Resolves after the last event was taken, or
   * soon after `signal` aborted. Never rejects but by a fault of the adapter, or of `take`.
   */
  stream(request: ModelRequest, signal: AbortSignal, take: Take<ModelEvent>): Promise<void>
  /**
   * Returns a tokenizer's count of each text, for usage that no provider reported. Never rejects, and takes 2 s at
   * most.
   */
  countTokens(texts: readonly string[]): Promise<number[]>
}

/** An event of the calls to providers that one model turn makes. */
export type ProviderCallEvent =
  /** A call is made: the first one, a retry, or one to a fallback. */
  | ({ type: 'called' } & ProviderCall)
  /** What that call sends. May come again: a server that refuses a part is asked without it. */
  | { type: 'sent'; request: ModelRequest; body: object }
  /** The head of its answer has come. */
  | { type: 'answered'; status: number }
  /** Its first text or reasoning has come. */
  | { type: 'first_token' }
  /** That call is over. Comes once for each. `status`: of an answer that refused it. */
  | { type: 'call_ended'; outcome: ProviderCallOutcome; status: number | null }
  /** A call failed and is made again. */
  | ({ type: 'retried' } & ProviderRetry)
  /** A provider has failed, and the next one is asked. */
  | ({ type: 'fell_back' } & ProviderFailure)

/** Costs microseconds and never throws. */
export type ProviderCalls = (event: ProviderCallEvent) => void

export interface ProviderCall {
  /** Base URL. Null when nothing leaves the process. */
  url: string | null
  providerId: string
  providerType: string
  model: string
  /** Longest silence before it is given up. */
  idleTimeoutMs: number
}

/** `stopped`: its reply was over. */
export type ProviderCallOutcome = 'ok' | 'stopped' | ModelFailure['code']

export interface ProviderFailure {
  code: ReplyErrorCode
  /** The provider's full words, without secrets. */
  detail: string
}

export interface ProviderRetry extends ProviderFailure {
  /** The call that failed, from 1. */
  attempt: number
  /** Calls that may be made in all. */
  of: number
  waitMs: number
}
