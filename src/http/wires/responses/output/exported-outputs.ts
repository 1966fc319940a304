/** Outputs that callers gave for calls, as exports show them (contract section 32). */

import type { Message } from '../../../../features/sessions/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { readTurnsOf } from '../store/stored-inputs.ts'
import { outputOf, pathsOf } from './stored-items.ts'

/** Returns the outputs of the message's calls: a list each that held more than text. */
export async function exportedOutputs(sql: Sql, message: Message) {
  const { id, agentId, sessionId, waited } = message
  const answered = waited.filter(({ decision }) => decision === 'respond')
  const given = message.role === 'assistant' && message.model === null ? message.toolEvents : []
  const texts = [
    ...given.flatMap(({ event }) => (event.type === 'tool_result' ? [{ id: event.id, text: event.content }] : [])),
    ...answered.map((call) => ({ id: call.id, text: call.output ?? '' })),
  ]
  if (texts.length === 0) return []
  const [turn] = await readTurnsOf(sql, sessionId, [id])
  const parts = turn?.parts ?? []
  const paths = pathsOf(id, parts, { agentId, sessionId })
  return texts.map((one) => ({ call_id: one.id, output: outputOf(one.id, one.text, { parts, paths }) }))
}
