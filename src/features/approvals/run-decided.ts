/** Carries out decisions about pending calls (contract section 15). */

import { emitResults, makeCall, type ToolResult } from '../../actors/generate/call-results.ts'
import { passGate } from '../../actors/generate/endings.ts'
import type { Running } from '../../actors/generate/running.ts'
import { resultOfDecision, resultText } from '../../actors/history/decided-calls.ts'
import type { Actions, OpenTurn, Toolbox, WaitingCall } from '../../actors/ports/index.ts'

/** Returns the calls that are pending now: one kind at a time, approvals first. */
export function pendingOf({ waiting }: OpenTurn): WaitingCall[] {
  const calls = waiting.filter((call) => call !== null)
  const approvals = calls.filter(({ kind }) => kind === 'approval')
  return approvals.length > 0 ? approvals : calls
}

/**
 * Makes approved calls, under the key of the reply that asked. Their begin is stored before any of them acts. A call that
 * was not shown for a decision yet stays open.
 */
export async function runDecided(
  { chain: { turn }, decisions }: NonNullable<Actions['continued']>,
  toolbox: Toolbox,
  running: Running,
): Promise<OpenTurn> {
  const { observer, take } = running
  const calls = pendingOf(turn).flatMap((call) => {
    const decided = decisions.find(({ id }) => id === call.id)
    return decided ? [{ call, decided }] : []
  })
  const approved = calls.filter(({ decided }) => decided.decision === 'approve')
  const startedAt = new Date().toISOString()
  if (approved.length > 0) await take(approved.map(({ call: { id } }) => ({ type: 'tool_begun', id, startedAt })))
  await passGate(running)
  const results = calls.map(async ({ call, decided }): Promise<ToolResult> => {
    const { decision } = decided
    if (decision !== 'approve') {
      const result = resultOfDecision(decided)
      observer.on({ type: 'not_made', call: { id: call.id, name: call.name, decision, ok: result.ok } })
      return result
    }
    const made = { id: call.id, name: call.name, arguments: decided.arguments ?? call.arguments, tool: call.tool }
    return await makeCall(made, { toolbox, key: `${call.replyId}:${call.place}`, decision }, running)
  })
  const made = calls.map(({ call: { id }, decided }) => ({ id, isMade: decided.decision === 'approve' }))
  const contents = await emitResults(made, results, running)
  const resultTexts = new Map(
    calls.map(({ call, decided }, index) => [call.id, resultText(contents[index] ?? '', decided.arguments)]),
  )
  return {
    ...turn,
    results: turn.results.map((result, index) => result ?? resultTexts.get(turn.waiting[index]?.id ?? '') ?? null),
    waiting: turn.waiting.map((call) => (call === null || resultTexts.has(call.id) ? null : call)),
  }
}
