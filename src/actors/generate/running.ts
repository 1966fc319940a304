/** The options of a generation, and the state that its parts share while it runs. */

import { unlessAborted } from '../../async/unless-aborted.ts'
import type { Sending, Told } from '../history/conversation.ts'
import type {
  Actions,
  Chain,
  MessagePart,
  Model,
  ModelMessage,
  ModelRequest,
  OpenToolbox,
  OpenTurn,
  SentBefore,
  StoredTurn,
  Take,
  Toolbox,
  ToolCall,
  ToolSpec,
  TurnMessage,
  Wait,
} from '../ports/index.ts'
import type { ReplyObserver } from '../ports/observer.ts'
import type { DecidedBefore, ReplyEvent, UnmadeKind, Usage } from '../reply/reply-event.ts'
import type { LeaseGate } from './endings.ts'
import type { ModelAttribution } from './models.ts'
import type { Reasoning } from './reasoning.ts'
import type { Tally } from './usage-tally.ts'

/**
 * The parts that capabilities play within a reply. Each is made by its feature, and handed in by compose. Whatever is absent
 * is as in defaults.ts.
 */
export interface Capabilities {
  /** When absent, every call is the agent's own, and made. */
  calls?: (actions: Actions) => CallPolicy
  /** When absent, a long history is cut. */
  compaction?: (told: Told | null) => Compaction
  /** When absent, no model sees pictures of tools. */
  pictures?: () => ToolPictures
}

/**
 * The judgement of a call: it waits, or it is refused with a text for the model. Null when it is made. `by`: the decision
 * that was remembered and covers it.
 */
export type Judgement =
  | { waits: UnmadeKind }
  | { refused: string; by?: DecidedBefore }
  | { made: true; by: DecidedBefore }
  | null

/** The rules for tool calls that are not simply made. */
export interface CallPolicy {
  /** Returns the tools that the model is offered; `own` are the agent's. */
  offered(own: readonly ToolSpec[]): readonly ToolSpec[]
  /** Returns the calls of a turn that count. The others are dropped. */
  considered(calls: readonly ToolCall[], toolbox: Toolbox): readonly ToolCall[]
  /** Decides about the calls of a turn of the reply, by their places. */
  judge(calls: readonly ToolCall[], toolbox: Toolbox, replyId: string): Promise<readonly Judgement[]>
  /** Returns how the reply ends if calls of its newest turn wait. Null when none does. */
  waitOf(chain: Chain): Wait | null
  /** Carries out decisions about the calls of an earlier turn. Null when there are none. */
  runDecided: ((toolbox: Toolbox, running: Running) => Promise<OpenTurn>) | null
}

/** The conversation of one generation, which may be summarised. */
export interface Compaction {
  told(): Told | null
  /** Decides whether the history is to be summarised before it is sent with these tools. Once a reply. */
  isDue(sending: Sending, tools: readonly ToolSpec[]): boolean
  /**
   * Summarises it. From then on the summary stands in place of what it covers; where there is none, the history is cut.
   * Resolves to whether the reply is still this instance's.
   */
  run(running: Running): Promise<'compacted' | 'fenced'>
}

/** Pictures that the tools of a reply gave: only its own models see them. */
export interface ToolPictures {
  keep(callId: string, pictures: readonly MessagePart[]): void
  /** Returns the turns with each picture next to its call's result. */
  beside(turns: readonly ModelMessage[]): readonly ModelMessage[]
  /** Tells whether models see more than is stored. */
  areShown(): boolean
}

/** The point from which a generation continues, when another instance began it, and how. */
export interface Resumption {
  /** Whole turns since the user's message. */
  said: readonly TurnMessage[]
  /** Calls that count towards `maxToolCalls`. */
  spent: number
  /** Calls of this reply. */
  calls: number
  /** Stored turns of calls. */
  turns: number
  /** The text of the interrupted turn, as far as it was stored. */
  text: string
  /** True when no model call of the reply was whole yet. */
  isFirstCall: boolean
  /** True when decisions have been carried out. */
  hasDecided: boolean
  /** Usage so far, without the interrupted turn. */
  used: Usage
  /** Calls to providers. */
  attempts: number
  /** Milliseconds from the admission. Null when nothing was said. */
  firstTokenMs: number | null
  reasoningMs: number | null
  /** True when its former owner had to go without a server's tools. */
  lacksTools: boolean
  /** The model that readers know of last. Null when it is not known. */
  model: { model: string; providerId: string } | null
  /**
   * Shows calls whose outcome is unknown, and counts the interrupted turn, which was sent `messages`. Resolves to how the
   * reply waits, if it had ended for that; else to null.
   */
  beginAgain(messages: readonly ModelMessage[], running: Running): Promise<Wait | null>
  /**
   * Waits for calls that were made and are answered elsewhere, and shows their results. Resolves to the turns with them,
   * and to how the reply waits, if it is to end for that. Absent when there are none.
   */
  rejoin?(toolbox: Toolbox, running: Running): Promise<{ said: readonly TurnMessage[]; wait: Wait | null }>
  /**
   * Runs one model turn after the interrupted text. `ask` gets the messages that are sent after those of earlier turns.
   */
  goOnBehind<Turn>(
    running: Running,
    ask: (more: readonly ModelMessage[], running: Running) => Promise<Turn>,
  ): Promise<Turn>
}

export interface GenerateOptions extends Capabilities {
  /** The message's id, or that of a stateless completion: its tool calls are known by it. */
  replyId: string
  model: Model
  openToolbox: OpenToolbox
  /** The conversation that is gone on with. When absent, the request's messages are sent as they are. */
  told?: Told
  /** The request's wishes about tools and their calls. When absent, nothing. */
  actions?: Actions
  /** Set when another instance began the reply. */
  from?: Resumption
  /**
   * Stores the n-th turn of calls before they are made. False when it cannot be stored any more. When absent, nothing
   * is stored.
   */
  keepTurn?: (n: number, turn: Pick<StoredTurn, 'turn' | 'spent' | 'used'>) => Promise<boolean>
  /**
   * Called between two turns, before the next model call. `isStored`: models have seen nothing that is not stored. Resolves
   * to true when the reply ends there, for another message to be answered. When absent, it never does.
   */
  atBoundary?: (isStored: boolean) => Promise<boolean>
  /** Limit of the whole reply in milliseconds. */
  timeoutMs: number
  /** The gate of this instance's lease. When absent, the generation belongs to no reply, and needs no lease. */
  gate?: LeaseGate
  /** The observer of the reply. When absent, nothing is measured. */
  observer?: ReplyObserver
}

/** The state that all parts of a running generation share. */
export interface Running extends Omit<GenerateOptions, 'timeoutMs' | 'told' | keyof Capabilities> {
  actions: Actions
  calls: CallPolicy
  compaction: Compaction
  pictures: ToolPictures
  request: Omit<ModelRequest, 'tools'>
  tally: Tally
  models: ModelAttribution
  reasoning: Reasoning
  observer: ReplyObserver
  keepSent(sent: SentBefore): void
  keepRefusal(words: string): void
  signal: AbortSignal
  take: Take<ReplyEvent>
  stored: (() => Promise<boolean>) | undefined
  /** Ends the reply: what it has emitted never will be stored. Throws. */
  notStored(): never
}

export const openWithin = ({ observer, openToolbox, signal }: Running): Promise<Toolbox> =>
  unlessAborted(
    observer.within(() => openToolbox(signal)),
    signal,
  )
