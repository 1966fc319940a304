/**
 * Ids of waiting calls that no other reply has. Models repeat their ids in other sessions. Where a client finds a call
 * by its id alone, the call has one id on every surface (contract section 35).
 */
import { hash } from 'node:crypto'
import type { OpenTurn, ToolCall } from '../ports/index.ts'

/** Returns a call's id: `call_`, the first half of the reply's, and a half of its own, as a UUID of RFC 9562 has it. */
const uniqueId = (replyId: string, id: string): string => {
  const reply = replyId.replaceAll('-', '').toLowerCase()
  return `call_${reply.slice(0, 16)}8${hash('sha256', `${reply}:call:${id}`).slice(1, 16)}`
}

/** Gives calls ids of their own. `which`: the calls that get one. */
export const withUniqueIds = (replyId: string, calls: readonly ToolCall[], which: readonly boolean[]): ToolCall[] =>
  calls.map((call, index) => (which[index] ? { ...call, id: uniqueId(replyId, call.id) } : call))

/** Returns the answer with the ids that its calls have. */
export const withIdsOf = (answer: OpenTurn['answer'], calls: readonly ToolCall[]): OpenTurn['answer'] => ({
  ...answer,
  ...(answer.toolCalls && {
    toolCalls: answer.toolCalls.map((call, index) => ({ ...call, id: calls[index]?.id ?? call.id })),
  }),
})
