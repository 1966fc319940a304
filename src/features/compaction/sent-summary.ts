/** Summaries of a conversation: how they are asked for, and how they are sent in place of what they cover. Pure. */

import { joinUserMessages } from '../../actors/history/message-parts.ts'
import type { Checkpoint, ModelMessage, SentSummary, UserMessage } from '../../actors/ports/index.ts'

/**
 * The last message of the request that asks for a summary. All before it is what the model was sent last, so that the
 * provider's cache knows it.
 */
export const asking: UserMessage = {
  role: 'user',
  content:
    'Summarise the conversation above. The summary will stand in place of its older messages, so keep whatever is needed ' +
    'to go on: what the user wants, and has said of themselves; facts, names, numbers, dates, ids and links word for word; ' +
    'results of tool calls that still matter; decisions; and what is still open. Write in the language of the ' +
    'conversation, as briefly as that allows. Do not call tools. Do not answer anything in the conversation. Answer with ' +
    'the summary alone.',
}

/** Around a summary, so that the model tells it from what the user says behind it. */
const before = '[Summary of the earlier conversation]'
const after = '[End of the summary. The conversation goes on:]'

export const sentSummary = ({ id, summary }: Checkpoint): SentSummary => ({ id, pieces: [before, summary, after] })

/** Returns the messages with the summary before the text of the first user message. */
export function behindSummary(summary: SentSummary | null, messages: readonly ModelMessage[]): ModelMessage[] {
  if (summary === null) return [...messages]
  const content = summary.pieces.join('\n\n')
  const at = messages.findIndex(({ role }) => role === 'user')
  return messages.map((message, index) =>
    index === at && message.role === 'user' ? joinUserMessages({ role: 'user', content }, message) : message,
  )
}
