/** A model's turn with calls, whose results may be missing yet. Pure. */

import { neverMade } from '../history/decided-calls.ts'
import { repeatableCall } from '../history/tool-turns.ts'
import type { ModelMessage, OpenTurn, ToolCall, TurnMessage } from '../ports/index.ts'

/** Returns a whole turn as the model is sent it. */
export const messagesOf = ({ answer, results }: OpenTurn): TurnMessage[] => [
  answer,
  ...(answer.toolCalls ?? []).map(({ id }, index): TurnMessage => {
    return { role: 'tool', toolCallId: id, content: results[index] ?? neverMade }
  }),
]

/** Returns the assistant's message of a turn. */
export const answerOf = (text: string, calls: readonly ToolCall[], echo: object | undefined): OpenTurn['answer'] => ({
  role: 'assistant',
  content: text,
  toolCalls: calls.map(repeatableCall),
  ...(echo && { echo }),
})

/**
 * Gives each call an id that no call before it has, of this reply and those that it continues: models repeat ids, or
 * give none. A call's result, its decision and its place on a page are found by its id alone.
 */
export function withOwnIds(calls: readonly ToolCall[], turns: readonly ModelMessage[]): ToolCall[] {
  const used = new Set(
    turns.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : [])).map(({ id }) => id),
  )
  return calls.map((call) => {
    const given = call.id || 'call'
    let id = given
    for (let n = 2; used.has(id); n++) id = `${given}_${n}`
    used.add(id)
    return { ...call, id }
  })
}
