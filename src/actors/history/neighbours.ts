/** Neighbours of a conversation that vendors want as one message. Pure. */
import type { ModelMessage } from '../ports/index.ts'
import { joinUserMessages } from './message-parts.ts'

/** Messages of the same role in a row become one; calls and their results stand alone. */
export function joinNeighbours(messages: readonly ModelMessage[]): ModelMessage[] {
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
