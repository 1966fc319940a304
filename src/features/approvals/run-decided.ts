/** Carries out decisions about pending calls (contract section 15). */

import { emitResults, makeCall, ownToolOf, type ToolResult } from '../../actors/generate/call-results.ts'
import { passGate } from '../../actors/generate/endings.ts'
import type { Running } from '../../actors/generate/running.ts'
import { resultOfDecision, resultText } from '../../actors/history/decided-calls.ts'
import type { Actions, OpenTurn, Toolbox, WaitingCall } from '../../actors/ports/index.ts'
import { callKey } from '../../actors/reply/call-key.ts'
import { isSent, type ReplyEvent, type ServerAsked, storeAlong } from '../../actors/reply/reply-event.ts'

/** Returns the place of a kind among those that are pending one after the other; see store/kind_rank.sql. */
function rankOf(kind: string): number {
  if (kind === 'approval') return 0
  if (kind === 'input') return 1
  return kind === 'caller' ? 3 : 2
}

/**
 * Returns the calls that are pending now: approvals first, then questions, then those that wait for no decision of
 * their own, then the caller's.
 */
export function pendingOf({ waiting }: OpenTurn): WaitingCall[] {
  const calls = waiting.filter((call) => call !== null)
  const first = Math.min(...calls.map(({ kind }) => rankOf(kind)))
  return calls.filter(({ kind }) => rankOf(kind) === first)
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
  // Stored turns have questions among the approvals.
  const calls = turn.waiting
    .filter((call) => call !== null)
    .flatMap((call) => {
      const decided = decisions.find(({ id }) => id === call.id)
      return decided ? [{ call, decided }] : []
    })
  const approved = calls.filter(({ decided }) => isSent(decided.decision))
  const startedAt = new Date().toISOString()
  const begun = approved.map(({ call, decided }): ReplyEvent => {
    const event = { type: 'tool_begun' as const, id: call.id, startedAt }
    const { id, name, tool } = call
    const made = { id, name, tool, arguments: decided.arguments ?? call.arguments }
    if (!decided.joins) storeAlong(event, ownToolOf(toolbox, made)?.start?.(callKey(call), made))
    return event
  })
  if (begun.length > 0) await take(begun)
  await passGate(running)
  const results = calls.map(async ({ call, decided }): Promise<ToolResult> => {
    const { decision } = decided
    if (!isSent(decision)) {
      const result = resultOfDecision(decided)
      observer.on({ type: 'not_made', call: { id: call.id, name: call.name, decision, ok: result.ok } })
      return result
    }
    const made = {
      id: call.id,
      name: call.name,
      arguments: decided.arguments ?? call.arguments,
      tool: call.tool,
      again: decided.again,
      joins: decided.joins,
    }
    return await makeCall(made, { toolbox, key: callKey(call), decision }, running)
  })
  const made = calls.map(({ call: { id }, decided }) => ({ id, isMade: isSent(decided.decision) }))
  const contents = await emitResults(made, results, running)
  const asked = new Map<string, ServerAsked>()
  const waits = new Map<string, string>()
  const resultTexts = new Map<string, string>()
  for (const [index, { call, decided }] of calls.entries()) {
    const result = await results[index]
    if (result?.asked) asked.set(call.id, result.asked)
    else if (result?.waits) waits.set(call.id, result.waits)
    else resultTexts.set(call.id, resultText(contents[index] ?? '', decided.arguments))
  }
  return {
    ...turn,
    results: turn.results.map((result, index) => result ?? resultTexts.get(turn.waiting[index]?.id ?? '') ?? null),
    waiting: turn.waiting.map((call) => {
      if (call === null || resultTexts.has(call.id)) return null
      const kind = waits.get(call.id)
      if (kind !== undefined) return { ...call, kind }
      return asked.has(call.id) ? { ...call, kind: 'input', asked: asked.get(call.id) } : call
    }),
  }
}
