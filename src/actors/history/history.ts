/** Stored messages → what the model is sent (contract section 4, "History sent to the model"). Pure. */

import type { HistoryLimits, HistoryMessage, MessagePart, ModelMessage } from '../ports/index.ts'
import { joinUserMessages, sameParts, userMessage, withinPartLimit } from './message-parts.ts'
import { MAX_TOOL_TEXT, messagesFor } from './tool-turns.ts'

/** Bytes that one token is estimated to take: English takes about 4, most other scripts fewer characters in more bytes. */
const BYTES_PER_TOKEN = 4

/** How much text can possibly be sent: more need not be read from the database. */
export const historyLimits = (maxTokens: number): HistoryLimits => ({
  maxBytes: maxTokens * BYTES_PER_TOKEN,
  maxToolText: MAX_TOOL_TEXT,
})

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** The size of a message as it is sent: tool calls and their results included. */
function tokensIn(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return calls.reduce((sum, call) => sum + tokensOf(call.name) + tokensOf(call.arguments), tokensOf(message.content))
}

/** A user's message and all that answered it. */
type Turn = HistoryMessage[]

/**
 * A reply whose question was not read any more is half a turn: only whole ones are sent. A conversation that was given
 * may begin with the assistant: then that is a turn.
 */
function turnsOf(messages: readonly HistoryMessage[], isWhole: boolean): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    const turn = turns.at(-1)
    if (message.role === 'user' || (turn === undefined && isWhole)) turns.push([message])
    else turn?.push(message)
  }
  return turns
}

/** Neither text nor tool calls. */
const isEmpty = ({ content, toolEvents }: HistoryMessage): boolean => content === '' && !toolEvents?.length

type NewestMessage = Pick<HistoryMessage, 'content' | 'parts'>

/** A message whose reply stayed empty and that was then sent again is one message. */
function withoutRepeats(turns: readonly Turn[], newest: NewestMessage): Turn[] {
  return turns.filter((turn, index) => {
    const [asked, ...answers] = turn
    const next = turns[index + 1]?.[0] ?? newest
    const unanswered = answers.every(isEmpty)
    const isSame = asked?.content === next.content && sameParts(asked.parts, next.parts)
    return !(asked?.role === 'user' && unanswered && isSame)
  })
}

export interface ModelHistory {
  messages: ModelMessage[]
  /** The oldest of the stored messages that is sent. Null when none is. */
  first: HistoryMessage | null
}

/** The turns that are sent, oldest first. */
function turnsWithin(
  messages: readonly HistoryMessage[],
  newest: NewestMessage,
  maxTokens: number,
  isWhole: boolean,
): { turn: Turn; sent: ModelMessage[] }[] {
  let left = maxTokens - tokensOf(newest.content)
  const kept: { turn: Turn; sent: ModelMessage[] }[] = []
  for (const turn of withoutRepeats(turnsOf(messages, isWhole), newest).reverse()) {
    const sent = turn.flatMap(messagesFor)
    left -= sent.reduce((sum, message) => sum + tokensIn(message), 0)
    if (left < 0) break
    kept.unshift({ turn, sent })
  }
  return kept
}

/**
 * `messages` oldest first, without the newest user message `newest` and its `parts`. Empty replies are left out,
 * neighbours of the same role joined, of a history above `maxTokens` (estimated, tool calls included) the oldest whole turns dropped;
 * `newest` always stays. A reply that called tools is sent with its calls and their results, each cut at
 * `MAX_TOOL_TEXT`. Parts are sent again within their own limit. `isWhole`: they begin with the session's first one.
 */
export function modelHistory(
  messages: readonly HistoryMessage[],
  newest: string,
  maxTokens: number,
  isWhole = false,
  parts: readonly MessagePart[] = [],
): ModelHistory {
  const kept = turnsWithin(messages, { content: newest, parts }, maxTokens, isWhole)
  const sent = kept.flatMap((one) => one.sent)
  return {
    messages: joinNeighbours(withinPartLimit([...sent, userMessage(newest, parts)])),
    first: kept[0]?.turn[0] ?? null,
  }
}

/** Messages of the same role in a row become one; calls and their results stand alone. */
function joinNeighbours(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last?.role === 'user' && message.role === 'user') joined[joined.length - 1] = joinUserMessages(last, message)
    else if (last && isPlainReply(last) && isPlainReply(message)) {
      joined[joined.length - 1] = { ...message, content: `${last.content}\n\n${message.content}` }
    } else joined.push(message)
  }
  return joined
}

const isPlainReply = (message: ModelMessage): boolean => message.role === 'assistant' && message.toolCalls === undefined
