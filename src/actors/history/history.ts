/** Stored messages → what the model is sent (contract section 4, "History sent to the model"). Pure. */

import type { Checkpoint, History, HistoryLimits, HistoryMessage, ModelMessage } from '../ports/index.ts'
import type { Conversation } from './conversation.ts'
import { sameParts, userMessage, withTime } from './message-parts.ts'
import { MAX_TOOL_TEXT, messagesFor } from './tool-turns.ts'

/**
 * Bytes that a token takes at most, about: of prose 5, and estimates are corrected by a half at least. More need not be read
 * from the database than can possibly be sent.
 */
const MOST_BYTES_PER_TOKEN = 8

export const historyLimits = (maxTokens: number): HistoryLimits => ({
  maxBytes: maxTokens * MOST_BYTES_PER_TOKEN,
  maxToolText: MAX_TOOL_TEXT,
})

/**
 * Divides messages into turns: a user's message and all that answered it. A reply whose question was not read any more is
 * half a turn: only whole ones are sent. A conversation that was given may begin with the assistant: that is a turn, too.
 */
export function turnsOf<Message extends { role: string }>(messages: readonly Message[], isWhole: boolean): Message[][] {
  const turns: Message[][] = []
  for (const message of messages) {
    const turn = turns.at(-1)
    if (message.role === 'user' || (turn === undefined && isWhole)) turns.push([message])
    else turn?.push(message)
  }
  return turns
}

/** Returns whether a message has neither text nor tool calls. */
const isEmpty = ({ content, toolEvents }: HistoryMessage): boolean => content === '' && !toolEvents?.length

type NewestMessage = Pick<HistoryMessage, 'content' | 'parts'>

/** Removes messages whose reply stayed empty and that were then sent again. */
function withoutRepeats(turns: readonly HistoryMessage[][], newest: NewestMessage): HistoryMessage[][] {
  return turns.filter((turn, index) => {
    const [asked, ...answers] = turn
    const next = turns[index + 1]?.[0] ?? newest
    const unanswered = answers.every(isEmpty)
    const isSame = asked?.content === next.content && sameParts(asked.parts, next.parts)
    return !(asked?.role === 'user' && unanswered && isSame)
  })
}

/** The messages that stand in place of a question that was itself too long, and of the missing answer. */
const tooLong: readonly ModelMessage[] = [
  { role: 'user', content: '[A message stood here that was too long to be sent.]' },
  { role: 'assistant', content: '[It was not answered.]' },
]

/** Returns whether a question was too long: it would be refused again, and the next question with it. */
const wasTooLong = ([asked, ...answers]: readonly HistoryMessage[]): boolean =>
  asked?.role === 'user' &&
  answers.length > 0 &&
  answers.every((answer) => isEmpty(answer) && answer.isTooLong === true)

/**
 * Returns a conversation of `messages`, oldest first, and the user's message `newest`. Empty replies are left out. A
 * reply that called tools is sent with its calls and their results, each cut at `MAX_TOOL_TEXT`. `at` is sent with the newest
 * message, where it is not null.
 */
export function storedConversation(
  { messages: earlier, isWhole, checkpoint, before, outputs }: History,
  messages: readonly HistoryMessage[],
  newest: Required<NewestMessage>,
  isContinued: boolean,
  at: string | null = null,
): Conversation {
  const asked = userMessage(newest.content, newest.parts)
  const begins = isWhole || isBehindAll(checkpoint, messages)
  const turns = withoutRepeats(turnsOf(messages, begins), newest).map((turn) => ({
    sent: wasTooLong(turn) ? tooLong : turn.flatMap(messagesFor),
    first: turn[0] ?? null,
    last: turn.at(-1)?.position ?? -1,
  }))
  return {
    turns,
    newest: [at === null ? asked : withTime(asked, at)],
    isWhole,
    checkpoint,
    before,
    stored: { earlier, asked: newest.content, isContinued },
    ...(outputs && { outputs }),
  }
}

/** The position of a summary that a session begins with: before its first message. */
export const BEFORE_ALL = -1

/** Returns whether these are all messages of a session that begins with a summary. */
const isBehindAll = (checkpoint: Checkpoint | null, [first]: readonly HistoryMessage[]): boolean =>
  checkpoint?.position === BEFORE_ALL && first?.position === 0
