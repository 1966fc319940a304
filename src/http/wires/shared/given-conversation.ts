/** A conversation that its caller keeps, as the model is sent it. Pure. */

import type { Conversation } from '../../../actors/history/conversation.ts'
import { BEFORE_ALL, turnsOf } from '../../../actors/history/history.ts'
import { withTime } from '../../../actors/history/message-parts.ts'
import type { ModelMessage } from '../../../actors/ports/index.ts'

/**
 * Returns a conversation that the caller keeps: all of it is given, each time. `at` as for a stored one. `summary`: of what
 * was before. Null when nothing was.
 */
export function givenConversation(
  messages: readonly ModelMessage[],
  at: string | null = null,
  summary: string | null = null,
): Conversation {
  const newestAt = messages.findLastIndex(({ role }) => role === 'user')
  return {
    turns: turnsOf(messages.slice(0, Math.max(0, newestAt)), true).map((sent) => ({ sent, first: null, last: -1 })),
    newest: messages
      .slice(Math.max(0, newestAt))
      .map((message) => (message.role === 'user' && at !== null ? withTime(message, at) : message)),
    isWhole: summary === null,
    checkpoint: summary === null ? null : { id: '', position: BEFORE_ALL, summary },
    before: null,
  }
}

/** Returns a given conversation to which nothing is added. */
export function restingGiven(messages: readonly ModelMessage[], summary: string | null): Conversation {
  const conversation = givenConversation(messages, null, summary)
  const { turns, newest } = conversation
  const last = newest.length === 0 ? [] : [{ sent: newest, first: null, last: BEFORE_ALL }]
  return { ...conversation, turns: [...turns, ...last], newest: [] }
}
