/** A reply's tool calls and their results → the messages that show them to a model. Pure. */

import { isObject } from '../../untrusted/is-object.ts'
import type { HistoryDecision, HistoryMessage, HistoryToolEvent, ModelMessage, ToolCall } from '../ports/index.ts'
import { isSent } from '../reply/reply-event.ts'
import { decisionText, neverMade, resultText } from './decided-calls.ts'
import { userMessage, withOutputParts, withTime } from './message-parts.ts'

/** Characters (UTF-16 code units) of a tool's arguments or result that later turns of a session still show. */
export const MAX_TOOL_TEXT = 8000

export const unknownOutcome =
  'The outcome is unknown: the reply ended before a result of this call was stored. The call may have taken effect. It was not made again.'

/**
 * Returns the call as it may be sent back to a model. Vendors refuse names and arguments that a model made up (a dot in
 * a name, half a JSON), and a refused message would fail this reply and every later one; what was wrong stands in the
 * call's result.
 */
export const repeatableCall = ({ id, name, arguments: text }: ToolCall): ToolCall => ({
  id,
  name: name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, 64) || 'unnamed',
  arguments: isJsonObject(text) ? text : '{}',
})

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** Returns the shown part of a result, and the words to add when it is not all. */
export function cutText(text: string): { shown: string; added: string } {
  if (text.length <= MAX_TOOL_TEXT) return { shown: text, added: '' }
  return { shown: text.slice(0, MAX_TOOL_TEXT).toWellFormed(), added: '\n[cut here: the whole text was longer]' }
}

function shortened(text: string): string {
  const { shown, added } = cutText(text)
  return `${shown}${added}`
}

/** Cuts arguments, which must still be JSON. */
const cutArguments = (text: string): string =>
  text.length <= MAX_TOOL_TEXT ? text : JSON.stringify({ cut: text.slice(0, MAX_TOOL_TEXT).toWellFormed() })

/** A model turn of a reply: its text, then the calls that it made. */
interface ToolTurn {
  text: string
  calls: ToolCall[]
  /** Results by the call's id. */
  results: Map<string, string>
  /** Ids of the calls that were pending. */
  waited: Set<string>
}

/** Divides a reply into its turns. A call that follows a result, or further text, belongs to a new turn. */
function turnsOf(content: string, events: readonly HistoryToolEvent[]): { turns: ToolTurn[]; rest: string } {
  const bytes = Buffer.from(content)
  const turns: ToolTurn[] = []
  let shown = 0
  for (const { end, event } of events) {
    const last = turns.at(-1)
    switch (event.type) {
      case 'tool_result':
        last?.results.set(event.id, shortened(event.content))
        break
      case 'tool_call': {
        const { id, name, waits } = event
        const call = repeatableCall({ id, name, arguments: cutArguments(event.arguments) })
        const goesOn = last !== undefined && end === shown && last.results.size === 0
        const turn: ToolTurn = goesOn
          ? last
          : { text: bytes.toString('utf8', shown, end), calls: [], results: new Map(), waited: new Set() }
        if (!goesOn) turns.push(turn)
        turn.calls.push(call)
        if (waits !== undefined) turn.waited.add(id)
        shown = end
        break
      }
      default:
        event satisfies never
    }
  }
  return { turns, rest: bytes.toString('utf8', shown) }
}

/** Returns the text that the model is sent of a call that waited. */
export function laterText(decided: HistoryDecision | undefined): string {
  if (decided === undefined || decided.decision === null) return neverMade
  if (!isSent(decided.decision)) return shortened(decisionText({ ...decided, decision: decided.decision }))
  if (decided.content !== null) return shortened(resultText(decided.content, decided.arguments))
  return decided.begun ? unknownOutcome : neverMade
}

/** Returns a stored message as the model sees it: a reply that called tools is several messages. */
export function messagesFor({ role, content, parts, toolEvents, decided, at }: HistoryMessage): ModelMessage[] {
  if (role === 'user' && at !== undefined) return [withTime(userMessage(content, parts), at)]
  if (role === 'user' && parts?.length) return [userMessage(content, parts)]
  if (role === 'user' || !toolEvents?.length) return content === '' ? [] : [{ role, content }]
  const { turns, rest } = turnsOf(content, toolEvents)
  const messages = turns.flatMap(({ text, calls, results, waited }): ModelMessage[] => [
    { role: 'assistant', content: text, toolCalls: calls },
    ...calls.map(({ id }): ModelMessage => {
      const decision = decided?.find((one) => one.id === id)
      const missing = waited.has(id) || decision ? laterText(decision) : unknownOutcome
      return { role: 'tool', toolCallId: id, content: results.get(id) ?? missing }
    }),
  ])
  const whole = withOutputParts(messages, parts)
  return rest === '' ? [...whole] : [...whole, { role: 'assistant', content: rest }]
}
