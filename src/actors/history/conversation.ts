/** A conversation as it was read, and the request that is made of it within a number of tokens. Pure. */
import type { HistoryMessage, LeftReason, ModelMessage, RequestHistory, SentBefore } from '../ports/index.ts'
import { firstTurn, newestWithin } from './budget.ts'
import { correctionOf, tokensOfAll } from './estimate.ts'
import { withinPartLimit } from './message-parts.ts'
import { joinNeighbours } from './neighbours.ts'

/** A user's message and all that answered it, as they are sent. */
export interface ConversationTurn {
  sent: readonly ModelMessage[]
  /** The stored message that it begins with. Null: it is stored nowhere. */
  first: HistoryMessage | null
}

export interface Conversation {
  /** Oldest first, whole ones. */
  turns: readonly ConversationTurn[]
  /** The newest user message, and what follows it: always sent. */
  newest: readonly ModelMessage[]
  /** What is stored of it, for those who keep requests. Absent: nothing. */
  stored?: Omit<RequestHistory, 'first' | 'count' | 'left'>
  /** The turns begin with the conversation's first one. */
  isWhole: boolean
  before: SentBefore | null
}

/** A request's messages, and what of the conversation is not among them. */
export interface Composed {
  messages: ModelMessage[]
  history: RequestHistory | undefined
  /** The turn that they begin with. */
  start: number
  /** Position of the first message that is sent. */
  from: number
  left: LeftReason | null
  /** Of the turns that are sent, by the estimate as corrected. */
  historyTokens: number
  /** Of all messages. */
  tokens: number
}

/** Estimates by turn cost more than sums of them: they are made once a reply. */
export function createComposer({ turns, newest, stored, isWhole, before }: Conversation) {
  const estimated = turns.map(({ sent }) => tokensOfAll(sent))
  const newestTokens = tokensOfAll(newest)
  const correction = correctionOf(before)
  const positionOf = (turn: ConversationTurn | undefined): number => turn?.first?.position ?? -1
  const known = before === null ? -1 : turns.findIndex((turn) => positionOf(turn) >= before.from)

  function composed(start: number, reason: LeftReason): Composed {
    const kept = turns.slice(start)
    const historyTokens = estimated.slice(start).reduce((sum, tokens) => sum + tokens, 0)
    const all = withinPartLimit([...kept.flatMap(({ sent }) => sent), ...newest])
    // What a caller gives is sent as it was given.
    const messages = stored ? joinNeighbours(all) : all
    const left = start === 0 && isWhole ? null : reason
    return {
      messages,
      start,
      left,
      from: kept.length > 0 ? positionOf(kept[0]) : positionOf(turns.at(-1)) + 1,
      history: stored && { ...stored, first: kept[0]?.first ?? null, count: messages.length, left },
      historyTokens: historyTokens * correction,
      tokens: (historyTokens + newestTokens) * correction,
    }
  }
  return {
    correction,
    /** Within `most` tokens for all before the newest message, of which prompt and tools take `fixed` without correction. */
    within(most: number, fixed: number): Composed {
      const start = before === null ? null : known < 0 ? turns.length : known
      const at = firstTurn(estimated, { room: most / correction - fixed, start })
      return composed(at, (at === start ? before?.left : null) ?? 'budget')
    },
    /** With at most so many tokens of history. Null: that is no less than from the turn `start` on. */
    shortened(most: number, start: number): Composed | null {
      const at = newestWithin(estimated, most / correction)
      return at <= start ? null : composed(at, 'provider_limit')
    },
  }
}

export type Composer = ReturnType<typeof createComposer>
