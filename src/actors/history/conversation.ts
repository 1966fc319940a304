/**
 * A conversation as it was read, and what each model turn of a reply is sent of it within a number of tokens, corrected by
 * what the provider counts.
 */

import { tokensOf } from '../../untrusted/text-tokens.ts'
import type {
  Checkpoint,
  HistoryMessage,
  LeftReason,
  MessagePart,
  ModelMessage,
  ModelRequest,
  RequestHistory,
  SentBefore,
  SentSummary,
  Shortening,
  ToolSpec,
} from '../ports/index.ts'
import { firstTurn, newestWithin } from './budget.ts'
import { correctionOf, tokensOfAll, tokensOfTools } from './estimate.ts'
import { joinNeighbours, withinPartLimit, withOutputParts } from './message-parts.ts'
import { behindSummary, sentSummary } from './sent-summary.ts'

/** A user's message and all that answered it, as they are sent. */
export interface ConversationTurn {
  sent: readonly ModelMessage[]
  /** The stored message that it begins with. Null when it is stored nowhere. */
  first: HistoryMessage | null
  /** Position of the stored message that it ends with. Negative: it is stored nowhere. */
  last: number
}

export interface Conversation {
  /** Oldest first, whole ones. */
  turns: readonly ConversationTurn[]
  /** The newest user message, and what follows it: always sent. */
  newest: readonly ModelMessage[]
  /** The stored part of the conversation, for those who keep requests. Absent when there is nothing. */
  stored?: Omit<RequestHistory, 'first' | 'count' | 'left' | 'summary'>
  /** The turns begin with the conversation's first one. */
  isWhole: boolean
  /** The summary of what comes before the turns. Null when there is none. */
  checkpoint: Checkpoint | null
  before: SentBefore | null
  /** The parts of outputs that callers gave for calls behind the newest message. Absent without any. */
  outputs?: readonly MessagePart[]
}

/** Turns of a conversation as a request sends them. */
interface SentTurns {
  messages: ModelMessage[]
  history: RequestHistory | undefined
}

/** A request's messages, and what of the conversation is not among them. */
interface Composed extends SentTurns {
  /** The turn that they begin with. */
  start: number
  /** Position of the first message that is sent. */
  from: number
  left: LeftReason | null
  /** Tokens of the turns that are sent, by the estimate as corrected. */
  historyTokens: number
  /** Tokens of all messages. */
  tokens: number
}

/** A conversation and what its parts take. */
interface Measured extends Conversation {
  /** Estimated tokens of each turn, before the correction. */
  estimated: readonly number[]
  newestTokens: number
  summary: SentSummary | null
  summaryTokens: number
  correction: number
  /** The turn that the newest reply's request began with. Null when it is not known. */
  started: number | null
}

/** Estimates by turn cost more than sums of them: they are made once a reply. */
function measure(conversation: Conversation): Measured {
  const { turns, newest, checkpoint, before } = conversation
  const summary = checkpoint && sentSummary(checkpoint)
  const known = before === null ? -1 : turns.findIndex((turn) => positionOf(turn) >= before.from)
  return {
    ...conversation,
    estimated: turns.map(({ sent }) => tokensOfAll(sent)),
    newestTokens: tokensOfAll(newest),
    summary,
    summaryTokens: summary ? tokensOf(summary.pieces.join()) : 0,
    correction: correctionOf(before),
    started: before === null ? null : known < 0 ? turns.length : known,
  }
}

const positionOf = (turn: ConversationTurn | undefined): number => turn?.first?.position ?? -1

/** Returns the room that so many tokens leave for the turns, as they are estimated. */
const roomIn = ({ correction, summaryTokens }: Measured, most: number, fixed: number): number =>
  most / correction - fixed - summaryTokens

/** Returns why the turns before `start` are not sent. */
function reasonAt({ checkpoint, before, started }: Measured, start: number): LeftReason {
  const isCovered = checkpoint !== null && (before === null || before.from <= checkpoint.position + 1)
  if (isCovered && start === 0) return 'compacted'
  return (start === started ? before?.left : null) ?? 'budget'
}

/** Returns the turns from `start` to `end` as they are sent, with `last` behind them. `left`: why those before are not. */
function sentTurns(
  { turns, stored, summary }: Measured,
  { start, end, left }: { start: number; end?: number; left: LeftReason | null },
  last: readonly ModelMessage[],
): SentTurns {
  const kept = turns.slice(start, end)
  const all = withinPartLimit([...kept.flatMap(({ sent }) => sent), ...last])
  // What a caller gives is sent as it was given.
  const sent = stored ? joinNeighbours(all) : all
  const messages = summary === null ? sent : behindSummary(summary, sent)
  const about = { count: messages.length, left, first: kept[0]?.first ?? null, ...(summary && { summary }) }
  return { messages, history: stored && { ...stored, ...about } }
}

function composed(measured: Measured, start: number, reason: LeftReason): Composed {
  const { turns, newest, estimated, newestTokens, summaryTokens, correction, isWhole, checkpoint } = measured
  const historyTokens = estimated.slice(start).reduce((sum, tokens) => sum + tokens, summaryTokens)
  const left = start === 0 && isWhole ? null : reason
  const nothingKept = Math.max(positionOf(turns.at(-1)), checkpoint?.position ?? -1) + 1
  return {
    ...sentTurns(measured, { start, left }, newest),
    start,
    left,
    from: start < turns.length ? positionOf(turns[start]) : nothingKept,
    historyTokens: historyTokens * correction,
    tokens: (historyTokens + newestTokens) * correction,
  }
}

export type Composer = ReturnType<typeof createComposer>

export function createComposer(conversation: Conversation) {
  const measured = measure(conversation)
  const { estimated, correction, started, summaryTokens } = measured
  return {
    ...measured,
    /** Returns the tokens that turns may take where prompt and tools use `fixed` of `most`, as they are estimated. */
    room: (most: number, fixed: number): number => roomIn(measured, most, fixed),
    /** Returns the turns from `start` to `end` as they are sent, with `last` in place of the newest message. */
    sentTurns(start: number, end: number, last: ModelMessage): SentTurns {
      const left = start === 0 && measured.isWhole ? null : reasonAt(measured, start)
      return sentTurns(measured, { start, end, left }, [last])
    },
    /**
     * Returns the conversation cut so that all before the newest message has `most` tokens at most. Prompt and tools
     * use `fixed` of them, uncorrected.
     */
    within(most: number, fixed: number): Composed {
      const at = firstTurn(estimated, { room: roomIn(measured, most, fixed), start: started })
      return composed(measured, at, reasonAt(measured, at))
    },
    /**
     * Returns the same with `most` tokens of history at the most. Null when that leaves out no more than is before the
     * turn `start`.
     */
    shortened(most: number, start: number): Composed | null {
      const at = newestWithin(estimated, most / correction - summaryTokens)
      return at <= start ? null : composed(measured, at, 'provider_limit')
    },
  }
}

export interface Told {
  conversation: Conversation
  /** Most tokens of all that stands before the newest message: prompt, tools and parts count. */
  maxTokens: number
  /** A history that comes near them is summarised. Absent when it is cut. */
  compacts?: boolean
}

type Sent = Pick<ModelRequest, 'messages' | 'history' | 'shortening'>

export interface Sending {
  /** Returns the next request. `turns`: those of this reply, and of those that it continues. */
  next(turns: readonly ModelMessage[]): Sent
  /**
   * Notes the request that the provider was sent at last, and the tokens that it counted. Null when it reported none.
   */
  counted(request: ModelRequest, promptTokens: number | null): void
  /** The conversation as it was measured, and the tokens of prompt and tools. Absent without a conversation. */
  measured?: { composer: Composer; fixed: number }
}

/** Estimates the tokens of prompt and tools, without a correction. */
export const fixedTokens = ({ system, tools }: { system: string | null; tools: readonly ToolSpec[] }): number =>
  tokensOf(system ?? '') + tokensOfTools(tools)

/** Returns the sending of a request without a conversation, which is sent as it is. */
export const sendingAll = (messages: readonly ModelMessage[]): Sending => ({
  next: (turns) => ({ messages: [...messages, ...turns] }),
  counted() {},
})

export function createSending(
  { conversation, maxTokens }: Told,
  besides: { system: string | null; tools: readonly ToolSpec[] },
  keep: (sent: SentBefore) => void,
): Sending {
  const composer = createComposer(conversation)
  const fixed = fixedTokens(besides)
  const made = new WeakMap<Shortening, Composed>()
  let current = composer.within(maxTokens, fixed)

  function sent(composed: Composed, turns: readonly ModelMessage[], turnTokens: number): Sent {
    const tokens = composed.tokens + (fixed + turnTokens) * composer.correction
    const shortening: Shortening = {
      tokens,
      historyTokens: composed.historyTokens,
      correction: (counted) => correctionOf({ estimated: tokens, reported: counted }),
      to(historyTokens) {
        const shorter = composer.shortened(historyTokens, composed.start)
        return shorter && sent(shorter, turns, turnTokens)
      },
    }
    made.set(shortening, composed)
    const { messages, history } = composed
    return { messages: [...messages, ...turns], ...(history && { history }), shortening }
  }
  return {
    measured: { composer, fixed },
    next(given) {
      const turns = withOutputParts(given, conversation.outputs)
      return sent(current, turns, tokensOfAll(turns))
    },
    counted({ shortening }, promptTokens) {
      const composed = shortening && made.get(shortening)
      if (!composed) return
      // What was too much for this model is not sent again within the reply.
      current = composed
      const { from, left } = composed
      keep({ from, left, estimated: Math.round(shortening.tokens / composer.correction), reported: promptTokens })
    },
  }
}
