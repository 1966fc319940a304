/** What a session needs of the world. Types only: the adapters implement them, `app.ts` hands them in. */
import type { AnswerFields } from './answer-fields.ts'
import type { ProviderCalls } from './provider-calls.ts'
import type { IntentKind, Outcome, ReplyErrorCode, ReplyEvent, RestState, StoredEvent, Usage } from './reply-event.ts'

export type * from './answer-fields.ts'

// ── the model ───────────────────────────────────────────────────────────────────────────────────────────

export interface GenerationConfig {
  temperature?: number
  topP?: number
  topK?: number
  maxToolCalls?: number
}

/** A provider as it is called: the key in plain text, which never leaves the process but towards `baseUrl`. */
export interface ProviderConnection {
  id: string
  type: string
  baseUrl: string | null
  apiKey: string | null
}

export interface ToolCall {
  id: string
  name: string
  /** JSON text as the model wrote it; it may not parse. */
  arguments: string
}

export type ModelMessage =
  | { role: 'user'; content: string }
  /** `echo` as the end of the turn brought it: there while its reply runs, never stored. */
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[]; echo?: object }
  | { role: 'tool'; toolCallId: string; content: string }

export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
}

/** A model at a provider. */
export interface ModelTarget {
  provider: ProviderConnection
  model: string
}

export interface ModelRequest extends ModelTarget {
  system: string | null
  messages: readonly ModelMessage[]
  config: GenerationConfig
  fields?: AnswerFields
  /** Asked in this order when the provider before fails with nothing said (contract section 13). */
  fallbacks?: readonly ModelTarget[]
  tools: readonly ToolSpec[]
  reasoning: boolean // asked for, where it can be, and read
  /** Absent: nobody counts the calls. */
  calls?: ProviderCalls
}

/** Why a model call failed. `message` is fit for a caller, `detail` has the provider's full words. */
export interface ModelFailure {
  code: Extract<ReplyErrorCode, `provider_${string}` | 'internal'>
  message: string
  detail: string
}

/**
 * What a model sends in one turn. `activity` is a sign of life without text; with `output` it stands for something that
 * the model made (a piece of a tool call, reasoning unasked), not for a ping or a role alone; with `usageFollows` the
 * provider has announced that it will report usage. `usage` is what the provider has counted so far, for turns that do
 * not reach their end; the newest one counts. A turn ends with exactly one `end` or `failed`, after which nothing comes;
 * nothing at all comes after an abort. `echo`: what the vendor wants back with this turn's tool results (signed
 * reasoning); only the adapter that made it looks into it.
 */
export type ModelEvent =
  /** Comes before all others when another model than the first one answers, or is the last one that was asked. */
  | { type: 'model'; model: string; providerId: string }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  | { type: 'activity'; output?: true; usageFollows?: true }
  | { type: 'usage'; usage: Omit<Usage, 'estimated'> }
  | {
      type: 'end'
      reason: 'stop' | 'length' | 'content_filter' | 'tool_calls'
      usage: Omit<Usage, 'estimated'> | null
      echo?: object
    }
  | { type: 'failed'; failure: ModelFailure }

/**
 * Takes what comes, in order: all that one piece from the network held. A call, not an iterator: a token that is
 * pulled through eight generators costs 12 µs of promises on its way (2 cores, Node 24). A promise in return means
 * that there is no room: nothing more comes until it resolves.
 */
export type Take<Event> = (events: readonly Event[]) => Promise<void> | undefined

export interface Model {
  /**
   * One model turn; own retries, fallbacks and idle time-out included. Resolves after the last event was taken, or soon after
   * `signal` aborted. Never rejects but by a fault of the adapter, or of `take`.
   */
  stream(request: ModelRequest, signal: AbortSignal, take: Take<ModelEvent>): Promise<void>
  /** A tokenizer's count of each text, for usage that no provider reported. Never rejects, and takes 2 s at most. */
  countTokens(texts: readonly string[]): Promise<number[]>
}

// ── tools ───────────────────────────────────────────────────────────────────────────────────────────────

/** The tools of one reply. */
export interface Toolbox {
  readonly tools: readonly ToolSpec[]
  /**
   * Never rejects but on abort: a failure is a result that the model reads. `key` tells this call from all others, for
   * tools that must not act twice (contract section 10).
   */
  call(call: ToolCall, signal: AbortSignal, key: string): Promise<{ ok: boolean; content: string }>
}

/**
 * Gives the tools of a reply. Asked once, when its generation begins: a server that does not answer may delay the
 * reply's first word, never the answer to the request that asked for it. May reject on abort.
 */
export type OpenToolbox = (signal: AbortSignal) => Promise<Toolbox>

// ── what is stored ──────────────────────────────────────────────────────────────────────────────────────

/** What identifies a reply that runs, wherever it is read or written. */
export interface ReplyInfo {
  id: string
  sessionId: string
  /** Small number of the session, key of its frames. */
  sessionNum: number
  /** Id of the reply's first frame, the one with the role. */
  firstSeq: number
  model: string
  /** ISO 8601 UTC. */
  createdAt: string
  includeUsage: boolean
  /** The owner, and its fencing token when it admitted the message. */
  instanceId: string
  epoch: number
}

/** An event's place in its reply. The role frame is at part 0 of `firstSeq`. */
export type Place = Pick<StoredEvent, 'seq' | 'part'>

export interface NewMessage {
  /** UUID for the reply, if it is admitted. Calls with the same one are the same call. */
  replyId: string
  agentId: string
  sessionId: string
  /** A session of anybody else is as one that is not there. Null: of whomever it is. */
  user: string | null
  text: string
  model: string
  includeUsage: boolean
  idempotency: { key: string; bodyHash: Buffer } | null
  /** The client says that it tries again: join the reply of the same message instead of storing it twice. */
  isRetry: boolean
  /** Version of the configuration that the request was made from. Null: it need not be the one of now. */
  configuration: number | null
  /** False while draining or full: only a join is possible, or to find what an earlier call has stored. */
  mayStart: boolean
}

export type Admission =
  /** `titleFrom`: the first user message of a session that has no title. Null: it has one. */
  | { outcome: 'admitted'; reply: ReplyInfo; position: number; restState: RestState; titleFrom: string | null }
  | { outcome: 'joined'; replyId: string }
  /** Nothing was stored, and nothing will be. `stale`: the configuration has changed, the agent may be another one now. */
  | { outcome: 'busy' | 'key_reused' | 'not_found' | 'refused' | 'fenced' | 'stale' }
  /** The answer was lost: the message may be stored, or may be yet. */
  | { outcome: 'unknown' }

/** A reply as it is stored now: one snapshot. `outcome` is null while it runs. */
export interface StoredReply {
  info: ReplyInfo
  events: readonly StoredEvent[]
  outcome: Outcome | null
  /** ISO 8601 UTC: when generation ended, when the outcome was stored. Null while running. */
  endedAt: string | null
  settledAt: string | null
}

export interface Settlement {
  outcome: Outcome
  /** All that was stored of the reply, in order. Null: whoever settles does not know it, and the journal reads it. */
  events: readonly StoredEvent[] | null
  endedAt: Date
  /** The connection that asked for this reply was gone before the end. */
  requesterLost: boolean
  reasoningMs: number | null // how long the model thought; null: it did not, or nobody knows
  /** Title for a session that has none. */
  title: string | null
}

export interface HistoryMessage {
  role: 'user' | 'assistant'
  content: string
  /** What the reply's tools were asked and answered, in order. Absent or null: nothing. */
  toolEvents?: readonly HistoryToolEvent[] | null
}

/** `end`: how much of the content, in UTF-8 bytes, came before it. */
export interface HistoryToolEvent {
  end: number
  event: Extract<ReplyEvent, { type: 'tool_call' | 'tool_result' }>
}

/** How much of the history is worth reading. */
export interface HistoryLimits {
  /** Of all text, about. */
  maxBytes: number
  /** Characters (code points) of a tool's arguments or result; what is longer comes cut, but longer than this. */
  maxToolText: number
}

/**
 * The durable side of a reply. While the database is away, `append` and `settle` wait and try again; they never
 * lose what they were given. `fenced`: this instance was declared lost, nothing was stored and nothing will be.
 */
export interface Journal {
  /** Rejects when the database cannot be reached: nothing was stored, and nothing will be. */
  admit(message: NewMessage): Promise<Admission>
  /**
   * Stores what `take` gives: asked once, under load only when the write begins, not at all when nothing can be stored.
   * At most one call for a reply at a time. `refused`: this data cannot be stored (only this reply ends).
   */
  append(reply: ReplyInfo, take: () => readonly StoredEvent[]): Promise<'stored' | 'fenced' | 'refused'>
  /** Folds the reply into its message. `settledAt` is ISO 8601 UTC. `gone`: the session was deleted. Idempotent. */
  settle(
    reply: ReplyInfo,
    settlement: Settlement,
  ): Promise<{ result: 'settled'; settledAt: string } | { result: 'fenced' | 'gone' }>
  /** The events after the frame `after`, and the outcome when it is settled. Null: no such reply (deleted). */
  read(replyId: string, after: number): Promise<StoredReply | null>
  /** Asks, in writing, for the session's running reply to stop. Null: none runs. */
  requestCancel(sessionId: string): Promise<{ replyId: string; instanceId: string } | null>
  /** Messages before `position`, oldest first; the newest ones only, within `limits`. */
  history(sessionId: string, position: number, limits: HistoryLimits): Promise<HistoryMessage[]>
}

// ── who owns what ───────────────────────────────────────────────────────────────────────────────────────

/** What others ask of the owner of a running reply. Stored first, so that it outlives everybody. */
export interface Intent {
  kind: IntentKind
  sessionId: string
  replyId: string | null
}

/** What the owner of a reply announces: events that were stored behind a place (none: nothing lies behind it), or the end. */
export type Notice = { after: Place; events: readonly StoredEvent[] } | 'ended'

export interface Following extends Disposable {
  /** The owner has announced something of this reply within the last moments: nobody needs to ask the database. */
  isLive(): boolean
}

/**
 * How instances reach each other without waiting for their next read of the database. Best effort: what is lost here
 * is found there, later.
 */
export interface Exchange {
  /** Intents were stored for these instances: they may read them now. */
  wake(instanceIds: readonly string[]): void
  /** Asks the owner of a reply to announce what it stores, until disposed of. */
  follow(reply: ReplyInfo, onNotice: (notice: Notice) => void): Following
  /** Events behind the place `after` of a reply that runs here were stored. */
  stored(replyId: string, after: Place, events: readonly StoredEvent[]): void
  /** A reply that ran here has ended: its outcome is stored, or will be by others. */
  ended(replyId: string): void
}

/** A session's actor, as it is shown to those who debug. `since` is ISO 8601 UTC. */
export interface LiveActor {
  sessionId: string
  agentId: string
  state: string
  since: string
  subscribers: number
}

/** The actors of one instance, and who reads there what runs elsewhere. */
export interface ActorReport {
  actors: LiveActor[]
  followed: { sessionId: string; subscribers: number }[]
}

/** What an instance's coordination needs of the replies that run in it. */
export interface OwnedReplies {
  /** Ids of the replies that this instance is at work on. */
  running(): ReadonlySet<string>
  /** The newest stored event of a reply that runs here and can be followed. Null: it does not, or its log was cut. */
  placeOf(replyId: string): Place | null
  report(): ActorReport
  apply(intent: Intent): void
  /** Agents whose stateless replies run here. No row shows those, so nobody can ask for their end in writing. */
  statelessAgents(): readonly string[]
  /** The agent was deleted: whatever replies for it here ends. */
  forgetAgent(agentId: string): void
  /** Its own lease has run out: whatever runs here is cut and stopped, and stored as `internal` if the epoch still stands. */
  leaseExpired(): void
  /** Others have declared this instance lost: whatever ran under `epoch` stops and writes nothing more. */
  fenced(epoch: number): void
  /** A row that streams under this instance, with nobody at work on it. */
  settleOrphan(reply: ReplyInfo): Promise<void>
  /** A reply at work whose row is not streaming any more. */
  dropOrphan(replyId: string): void
}
