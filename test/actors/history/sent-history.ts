/** The messages that are sent of a stored conversation, for tests of what stands in them. */
import { createComposer } from '../../../src/actors/history/conversation.ts'
import { storedConversation } from '../../../src/actors/history/history.ts'
import type { HistoryMessage, MessagePart, ModelMessage } from '../../../src/actors/ports/index.ts'

export function modelHistory(
  messages: readonly HistoryMessage[],
  content: string,
  maxTokens: number,
  isWhole = false,
  parts: readonly MessagePart[] = [],
): ModelMessage[] {
  const stored = { messages: [...messages], isWhole, checkpoint: null, before: null }
  return createComposer(storedConversation(stored, messages, { content, parts }, false)).within(maxTokens, 0).messages
}
