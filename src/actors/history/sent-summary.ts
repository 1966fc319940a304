/** The summary of a conversation as a model is sent it, in place of the messages that it covers. Pure. */

import type { Checkpoint, ModelMessage, SentSummary } from '../ports/index.ts'
import { joinUserMessages } from './message-parts.ts'

/** Around a summary, so that the model tells it from what the user says behind it. */
const before = '[Summary of the earlier conversation]'
const after = '[End of the summary. The conversation goes on:]'

/** A line that could be taken for one of both. */
const marks = /^(\s*)\[(?=\s*(?:summary of the earlier|end of the summary))/gim

/** Returns the summary as it is sent. A mark that it repeats, from a tool perhaps, does not end it. */
export const sentSummary = ({ id, summary }: Checkpoint): SentSummary => ({
  id,
  pieces: [before, summary.replace(marks, '$1\\['), after],
})

/** Returns the messages with the summary before the text of the first user message, or before all where there is none. */
export function behindSummary(summary: SentSummary, messages: readonly ModelMessage[]): ModelMessage[] {
  const content = summary.pieces.join('\n\n')
  const at = messages.findIndex(({ role }) => role === 'user')
  if (at < 0) return [{ role: 'user', content }, ...messages]
  return messages.map((message, index) =>
    index === at && message.role === 'user' ? joinUserMessages({ role: 'user', content }, message) : message,
  )
}
