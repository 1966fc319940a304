/** A message as its surface has read it, and what is derived from that alone. */
import type {
  AnswerFields,
  Brought,
  MessageDecisions,
  QueuedInput,
  ResponseRequest,
  SentMessage,
  SessionToMake,
  StoredDecisions,
} from '../../actors/ports/index.ts'
import type { Origin } from '../../actors/ports/observer.ts'
import type { CallerTools, GivenDecisions } from '../../features/approvals/index.ts'
import type { CallerLimits } from '../../features/limits/index.ts'
import type { AskedVersion } from '../../features/versions/index.ts'
import type { Instructions } from './caller-instructions.ts'
import type { Overrides } from './overrides.ts'

/**
 * A message and what it asks for, as its surface has read it: plain data. The bytes of its parts are held beside it.
 */
export interface MessageInput
  extends Pick<
    SentMessage,
    'sessionId' | 'user' | 'by' | 'text' | 'place' | 'includeUsage' | 'idempotency' | 'isRetry' | 'onBusy'
  > {
  /** Results of the caller's calls that wait, beside the user's message. */
  answers?: MessageDecisions['answers']
  /** The version of the agent that is asked for. Absent when the session's is meant. */
  asked?: AskedVersion | undefined
  /** The session's pin, as far as it is known. Absent or null for none. */
  pin?: number | null
  /** See ReplyFacts. Absent for the session's own, and where there is none. */
  depth?: number | undefined
  /** The version as which a queued message has begun. Null when it is not known; absent for others. */
  begunAs?: number | 'draft' | null
  /** Decisions instead of a message. */
  decisions?: GivenDecisions
  /** Decisions that are stored already, instead of a message. */
  follows?: StoredDecisions
  /** Made with the message, if there is no such session. */
  makeSession?: SessionToMake
  origin: Origin | null
  fields: AnswerFields
  /** Whether the model's reasoning is asked for and shown. */
  reasoning: boolean
  /** Absent when the request brings none; those that are in force stay. */
  callerTools?: CallerTools
  /** Whether calls that wait for an approval are shown. */
  includeActions?: boolean
  /** The text that follows the agent's prompt. Null or absent when the request brings none. */
  instructions?: Instructions | null
  /** The playground's settings and tools. Null or absent when it sets nothing. */
  overrides?: Overrides | null
  /** The Responses API's part of the request. Absent when another API is used. */
  response?: ResponseRequest
  /** Absent when the request counts for no limit. */
  counted?: CallerLimits
  /** The id that the client gave the message. Absent when it sent none. */
  sentAs?: string
  /** See ReplyFacts. Absent when the request makes no session, or names no user. */
  madeBy?: string | undefined
}

/**
 * Returns the version that the request asks for, or that the one asked for which it continues. Null for the session's.
 */
export const askedOf = ({ asked, decisions }: MessageInput): number | 'draft' | null =>
  asked?.version ?? decisions?.wait?.askedVersion ?? null

/** Returns what is stored of a message that may wait, whatever its agent is when it begins. */
export const queuedInputOf = (input: MessageInput): QueuedInput => ({
  user: input.user,
  by: input.by ?? null,
  includeUsage: input.includeUsage,
  reasoning: input.reasoning,
  fields: input.fields,
  ...(input.callerTools && { callerTools: input.callerTools }),
  includeActions: input.includeActions === true,
  instructions: input.instructions ?? null,
  overrides: input.overrides ?? null,
  ...(input.response && { response: input.response }),
  origin: input.origin,
})

/**
 * Returns the parts of a request that count for its session besides the message, as a fact of the reply. The tools and
 * fields of earlier requests that are in force have counted already.
 */
export function broughtBy({
  callerTools,
  fields,
  instructions,
  overrides,
}: Pick<MessageInput, 'callerTools' | 'fields' | 'instructions' | 'overrides'>): { brought?: Brought } {
  const brought: Brought = {
    ...(callerTools && callerTools.tools.length > 0 && { tools: callerTools.tools }),
    ...(fields.responseFormat && { format: fields.responseFormat }),
    ...(instructions && { instructions: instructions.texts }),
    ...(overrides && { overrides }),
  }
  return Object.keys(brought).length > 0 ? { brought } : {}
}
