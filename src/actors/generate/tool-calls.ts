/** The tool calls of a running reply: those that a turn makes at once, and those that were approved since. */

import { unlessAborted } from '../../async/unless-aborted.ts'
import { notApprovedHere, resultOfDecision, resultText } from '../../features/approvals/decided-calls.ts'
import { type Actions, pendingOf, waitKindOf, withOwnIds } from '../../features/approvals/waiting-calls.ts'
import type { ModelMessage, OpenTurn, ToolAnswer, Toolbox, ToolCall, WaitingCall } from '../ports/index.ts'
import type { ObservedToolCall, ReplyObserver } from '../ports/observer.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'
import { passGate } from './endings.ts'
import type { Running } from './running.ts'
import { cleanText } from './text-cleaner.ts'

type ToolResult = Omit<Extract<ReplyEvent, { type: 'tool_result' }>, 'type' | 'id'> & Pick<ToolAnswer, 'pictures'>

export const cleanCall = (call: ToolCall): ToolCall => ({
  id: cleanText(call.id),
  name: cleanText(call.name),
  arguments: cleanText(call.arguments),
})

/**
 * The calls of a turn that are looked at, each under an id of its own: where nothing is stored, those of the caller
 * alone, if there are any.
 */
export function callsToMake(
  calls: readonly ToolCall[],
  { turns, toolbox }: { turns: readonly ModelMessage[]; toolbox: Toolbox },
  actions: Actions,
): ToolCall[] {
  const callers = actions.canWait ? [] : calls.filter((call) => waitKindOf(call, toolbox, actions) === 'caller')
  return withOwnIds(callers.length > 0 ? callers : calls, turns)
}

interface TurnPlace {
  before: number
  left: number
  /** Stores the turn. */
  keep(waiting: OpenTurn['waiting']): Promise<void>
}

/**
 * The calls of one turn in parallel, results as they come. None is made before all of them are stored; those that wait
 * are not made at all. `before`: calls of this reply; `left`: how many more may be made.
 */
export async function runTools(
  calls: readonly ToolCall[],
  toolbox: Toolbox,
  { before, left, keep }: TurnPlace,
  running: Running,
): Promise<Pick<OpenTurn, 'results' | 'waiting'>> {
  const { replyId, actions, observer, signal, take } = running
  const startedAt = new Date().toISOString()
  const waiting = calls.map((call, index): WaitingCall | null => {
    const kind = index < left ? waitKindOf(call, toolbox, actions) : null
    if (kind === null || (kind === 'approval' && !actions.canWait)) return null
    const tool = toolbox.own?.get(call.name)?.key
    return { ...call, kind, replyId, place: before + index + 1, ...(tool !== undefined && { tool }) }
  })
  await take(
    calls.map(({ id, name, arguments: text }, index) => {
      const kind = waiting[index]?.kind
      return { type: 'tool_call', id, name, arguments: text, startedAt, ...(kind !== undefined && { waits: kind }) }
    }),
  )
  await unlessAborted(keep(waiting), signal)
  await passGate(running)
  const results = calls.map(async (call, index): Promise<ToolResult | null> => {
    if (waiting[index]) return null
    const key = `${replyId}:${before + index + 1}`
    return timed(async () => {
      if (index >= left) return { ok: false, content: 'Not called: the limit of tool calls is reached.' }
      if (waitKindOf(call, toolbox, actions) === 'approval') return { ok: false, content: notApprovedHere }
      return await observedCall(observer, call, () => unlessAborted(toolbox.call(call, signal, key), signal))
    })
  })
  const made = calls.map(({ id }, index) => ({ id, isMade: index < left && !waiting[index] }))
  return { waiting, results: await asTheyCome(made, results, running) }
}

/**
 * What was decided about a turn that waits: approved calls are made, under the key of the reply that asked. Their begin
 * is stored before any of them acts. What was not shown for a decision yet stays open.
 */
export async function runDecided(
  { chain: { turn }, decisions }: NonNullable<Actions['continued']>,
  toolbox: Toolbox,
  running: Running,
): Promise<OpenTurn> {
  const { observer, signal, take } = running
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
    const key = `${call.replyId}:${call.place}`
    return timed(() =>
      observedCall(observer, { ...made, decision }, () => unlessAborted(toolbox.call(made, signal, key), signal)),
    )
  })
  const made = calls.map(({ call: { id }, decided }) => ({ id, isMade: decided.decision === 'approve' }))
  const contents = await asTheyCome(made, results, running)
  const resultTexts = new Map(
    calls.map(({ call, decided }, index) => [call.id, resultText(contents[index] ?? '', decided.arguments)]),
  )
  return {
    ...turn,
    results: turn.results.map((result, index) => result ?? resultTexts.get(turn.waiting[index]?.id ?? '') ?? null),
    waiting: turn.waiting.map((call) => (call === null || resultTexts.has(call.id) ? null : call)),
  }
}

async function timed(work: () => Promise<ToolAnswer>): Promise<ToolResult> {
  const begin = performance.now()
  const { ok, content, pictures } = await work()
  const durationMs = Math.round(performance.now() - begin)
  return { ok, content: cleanText(content), durationMs, ...(pictures && { pictures }) }
}

/**
 * Emits the result of a call that was made as soon as it comes, and keeps its pictures: what is stored is not lost. That of one
 * that was not made waits for those before it. Their contents, in the order of the calls.
 */
async function asTheyCome(
  calls: readonly { id: string; isMade: boolean }[],
  results: readonly Promise<ToolResult | null>[],
  { take, pictures: seen }: Running,
): Promise<(string | null)[]> {
  const emitted: Promise<string | null>[] = []
  for (const [index, { id, isMade }] of calls.entries()) {
    const before = [...emitted]
    const emit = async () => {
      const result = (await results[index]) ?? null
      if (!isMade) await Promise.all(before)
      if (result === null) return null
      const { pictures = [], ...stored } = result
      seen.keep(id, pictures)
      await take([{ type: 'tool_result', id, ...stored }])
      return result.content
    }
    emitted.push(emit())
  }
  return await Promise.all(emitted)
}

/** Reports a call to the observer. Rejects as the call does; that counts as a failure too. */
async function observedCall(
  observer: ReplyObserver,
  call: ObservedToolCall,
  work: () => ReturnType<Toolbox['call']>,
): ReturnType<Toolbox['call']> {
  const observed = observer.toolCall(call)
  let ok = false
  try {
    const result = await observed.within(work)
    ok = result.ok
    return result
  } finally {
    observed.on({ type: 'ended', ok })
  }
}
