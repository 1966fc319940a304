/** The tool calls of one turn of a running reply. */

import { unlessAborted } from '../../async/unless-aborted.ts'
import type { OpenTurn, Toolbox, ToolCall, WaitingCall } from '../ports/index.ts'
import { callKey } from '../reply/call-key.ts'
import { type ReplyEvent, storeAlong } from '../reply/reply-event.ts'
import { emitResults, makeCall, notMade, ownToolOf, type ToolResult } from './call-results.ts'
import { passGate } from './endings.ts'
import { heldEvents } from './held-text.ts'
import type { Judgement, Running } from './running.ts'
import { cleanText } from './text-cleaner.ts'
import { withIdsOf, withUniqueIds } from './waiting-ids.ts'

export const cleanCall = (call: ToolCall): ToolCall => ({
  id: cleanText(call.id),
  name: cleanText(call.name),
  arguments: cleanText(call.arguments),
})

interface TurnPlace {
  answer: OpenTurn['answer']
  /** The turn's number among the reply's turns of calls, from 1. */
  n: number
  /** Calls of this reply before the turn's. */
  before: number
  /** The number of calls that may still be made. */
  left: number
  /** Calls that count towards `maxToolCalls`, those of this turn included. */
  spent: number
  /** The turn's text, if that is not shown yet. Else empty. */
  held: string
}

/**
 * Makes the calls of one turn in parallel, and emits results as they come. None is made before all of them are stored;
 * those that wait are not made at all.
 */
export async function runTools(
  wanted: readonly ToolCall[],
  toolbox: Toolbox,
  place: TurnPlace,
  running: Running,
): Promise<OpenTurn> {
  const { replyId, request, actions, calls: policy, signal, take } = running
  const { before, left } = place
  const startedAt = new Date().toISOString()
  const within = await unlessAborted(policy.judge(wanted.slice(0, Math.max(0, left)), toolbox, replyId), signal)
  const judged = wanted.map((_, index): Judgement => (index < left ? (within[index] ?? null) : { refused: overLimit }))
  const waits = judged.map((judgement) => judgement !== null && 'waits' in judgement)
  const unique = waits.map((isWaiting) => actions.hasParent === true || (isWaiting && actions.uniqueIds === true))
  const asked = withUniqueIds(replyId, wanted, unique)
  const answer = unique.includes(true) ? withIdsOf(place.answer, asked) : place.answer
  const waiting = asked.map((call, index): WaitingCall | null => {
    const judgement = judged[index] ?? null
    if (judgement === null || !('waits' in judgement)) return null
    const tool = toolbox.own?.get(call.name)?.key
    return { ...call, kind: judgement.waits, replyId, place: before + index + 1, ...(tool !== undefined && { tool }) }
  })
  const goesOn = waiting.every((call) => call === null)
  const shown = asked.map(({ id, name, arguments: text }, index): ReplyEvent => {
    const judgement = judged[index] ?? null
    const waits = judgement !== null && 'waits' in judgement ? judgement.waits : undefined
    const by = judgement !== null && 'by' in judgement ? judgement.by : undefined
    const call = { type: 'tool_call' as const, id, name, arguments: text, startedAt }
    const isMade = judgement === null || !('refused' in judgement)
    const key = callKey({ replyId, place: before + index + 1 })
    const own = isMade ? ownToolOf(toolbox, { name, arguments: text }) : undefined
    const tool = waits === 'caller' ? undefined : identityOf(toolbox, name)
    const event = {
      ...{ ...call, ...(waits !== undefined && { waits }), ...(by && { by }) },
      ...{ ...(tool !== undefined && { tool }), ...own?.notes?.(key).event },
    }
    if (waits === undefined) storeAlong(event, own?.start?.(key, call))
    return event
  })
  await take([...heldEvents(place.held, goesOn, request), ...shown])
  await unlessAborted(keep({ ...place, answer }, waiting, running), signal)
  await passGate(running)
  const results = asked.map(async (call, index): Promise<ToolResult | null> => {
    const judgement = judged[index] ?? null
    if (judgement !== null && 'refused' in judgement) return notMade(judgement.refused)
    if (judgement !== null && 'waits' in judgement) return null
    return await makeCall(call, { toolbox, key: callKey({ replyId, place: before + index + 1 }) }, running)
  })
  const made = asked.map(({ id }, index) => ({ id, isMade: index < left && !waiting[index] }))
  const contents = await emitResults(made, results, running)
  const asking = await Promise.all(
    asked.map(async (call, index): Promise<WaitingCall | null> => {
      const { asked: question, waits: kind } = (await results[index]) ?? {}
      const tool = toolbox.own?.get(call.name)?.key
      const place = { replyId, place: before + index + 1, ...(tool && { tool }) }
      if (question) return { ...call, kind: 'input', ...place, asked: question }
      return kind === undefined ? null : { ...call, kind, ...place }
    }),
  )
  return { answer, waiting: waiting.map((call, index) => call ?? asking[index] ?? null), results: contents }
}

/** Returns the identity of the tool of this name. Null: there is none. Undefined where tools have none. */
const identityOf = ({ own }: Toolbox, name: string): string | null | undefined => own && (own.get(name)?.key ?? null)

const overLimit = 'Not called: the limit of tool calls is reached.'

/** Stores a turn with its calls, before these are made. */
async function keep(
  { n, answer, spent }: TurnPlace,
  waiting: OpenTurn['waiting'],
  { keepTurn, tally, notStored }: Running,
): Promise<void> {
  if (keepTurn === undefined) return
  const used = await tally.usage()
  if (!(await keepTurn(n, { turn: { answer, results: [], waiting }, spent, used }))) notStored()
}
