/** What a generation is made with, and what its parts share while it runs. */

import { unlessAborted } from '../../async/unless-aborted.ts'
import type { Actions } from '../../features/approvals/waiting-calls.ts'
import type { ResumePoint } from '../../features/continuation/resume-point.ts'
import type { ToolPictures } from '../../features/parts/tool-pictures.ts'
import type { Sending, Told } from '../history/conversation.ts'
import type {
  Model,
  ModelRequest,
  OpenToolbox,
  SentBefore,
  StoredTurn,
  Take,
  Toolbox,
  ToolSpec,
} from '../ports/index.ts'
import type { ReplyObserver } from '../ports/observer.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'
import type { LeaseGate } from './endings.ts'
import type { ModelAttribution } from './models.ts'
import type { Reasoning } from './reasoning.ts'
import type { Tally } from './usage-tally.ts'

export interface GenerateOptions {
  /** The message's id, or that of a stateless completion: its tool calls are known by it. */
  replyId: string
  model: Model
  openToolbox: OpenToolbox
  /** The conversation that is gone on with. When absent, the request's messages are sent as they are. */
  told?: Told
  /** When absent, every call is the agent's own, and made. */
  actions?: Actions
  /** Where it goes on. When absent, it begins. */
  from?: ResumePoint
  /** Stores the n-th turn of calls before they are made. False when it cannot be stored any more. When absent, nothing is stored. */
  keepTurn?: (n: number, turn: Pick<StoredTurn, 'turn' | 'spent' | 'used'>) => Promise<boolean>
  /** A turn of calls is whole. What it returns is waited for before the next model call. When absent, nothing. */
  atBoundary?: () => Promise<void> | undefined
  /** Limit of the whole reply in milliseconds. */
  timeoutMs: number
  /** When absent, what is generated belongs to no reply, and needs no lease. */
  gate?: LeaseGate
  /** Whether another message is to be answered now: asked between two turns. When absent, none is. */
  isSteered?: () => Promise<boolean>
  /** When absent, nothing is measured. */
  observer?: ReplyObserver
}

/** What every part of a running generation needs. */
export interface Running extends Omit<GenerateOptions, 'timeoutMs' | 'told'> {
  actions: Actions
  request: Omit<ModelRequest, 'tools'>
  tally: Tally
  models: ModelAttribution
  reasoning: Reasoning
  observer: ReplyObserver
  pictures: ToolPictures
  /** What it is told of its conversation, and whether that is to be summarised first. */
  compaction: { told(): Told | null; isDue(sending: Sending, tools: readonly ToolSpec[]): boolean }
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
