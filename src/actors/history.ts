/** Stored messages → what the model is told (contract section 4, "History sent to the model"). Pure. */
import type { HistoryMessage, ModelMessage } from './ports.ts'

/** Bytes that one token is estimated to take: English takes about 4, most other scripts fewer characters in more bytes. */
const BYTES_PER_TOKEN = 4

/** How much text can possibly be sent: more need not be read from the database. Bytes. */
export const historyBytes = (maxTokens: number): number => maxTokens * BYTES_PER_TOKEN

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** A user's words and all that was answered to them. */
type Turn = HistoryMessage[]

function turnsOf(messages: readonly HistoryMessage[]): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    const current = turns.at(-1)
    if (message.role === 'user' || current === undefined) turns.push([message])
    else current.push(message)
  }
  return turns
}

/** A message whose reply stayed empty and that was then sent again is one message. */
function withoutRepeats(turns: readonly Turn[], newest: string): Turn[] {
  return turns.filter((turn, index) => {
    const [asked, ...answers] = turn
    const next = turns[index + 1]?.[0]?.content ?? newest
    const unanswered = answers.every(({ content }) => content === '')
    return !(asked?.role === 'user' && unanswered && asked.content === next)
  })
}

/**
 * `messages` oldest first, without the newest user message `newest`. Empty replies are left out, neighbours of the
 * same role joined, of a history above `maxTokens` (estimated) the oldest whole turns dropped; `newest` always stays.
 */
export function modelHistory(messages: readonly HistoryMessage[], newest: string, maxTokens: number): ModelMessage[] {
  let left = maxTokens - tokensOf(newest)
  const kept: Turn[] = []
  for (const turn of withoutRepeats(turnsOf(messages), newest).reverse()) {
    left -= turn.reduce((sum, { content }) => sum + tokensOf(content), 0)
    if (left < 0) break
    kept.unshift(turn)
  }
  const joined: { role: 'user' | 'assistant'; content: string }[] = []
  for (const { role, content } of [...kept.flat().filter(({ content }) => content !== ''), { role: 'user', content: newest } as const]) {
    const last = joined.at(-1)
    if (last?.role === role) last.content += `\n\n${content}`
    else joined.push({ role, content })
  }
  return joined
}
