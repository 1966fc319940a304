/** The end of a turn, whichever vendor's it is. */
import type { EndReason, ModelEvent, ToolCall } from '../../actors/ports/index.ts'
import { cutsOff, finishReasons } from '../../actors/reply/reply-event.ts'
import { meantArguments } from './meant-arguments.ts'

export type End = Extract<ModelEvent, { type: 'end' }>

/** A vendor's finish reasons for each of ours. */
export type ReasonWords = Readonly<Partial<Record<EndReason, readonly string[]>>>

const endReasons = finishReasons.filter((reason) => reason !== 'cancelled' && reason !== 'steered')

/** Finish reasons that no vendor documents, seen with whole answers. */
const otherStops = /^(?:eos|eos_token|stop_sequence|end_turn|end|complete|completed|done|finished|normal)$/i

/** Returns whether a finish reason is unknown. Without output, such an end is the provider's to explain. */
export const isUnknownEnd = (words: ReasonWords, word: string): boolean =>
  !endReasons.some((reason) => words[reason]?.includes(word)) && !otherStops.test(word)

/** Translates a finish reason. An unknown or missing one means `stop`. */
export const reasonIn = (words: ReasonWords, word: string | null): EndReason =>
  endReasons.find((reason) => word !== null && words[reason]?.includes(word)) ?? 'stop'

const meant = (call: ToolCall): ModelEvent => ({
  type: 'tool_call',
  call: { ...call, arguments: meantArguments(call.arguments) },
})

/**
 * Returns the tool calls, then the end. A call cut off by the length limit or a filter must not run. `echo`: the data
 * that the vendor requires back with their results, or null. `refusal`: the words of the model's, or a filter's, refusal.
 */
export function turnEnd(
  reason: EndReason,
  usage: End['usage'],
  calls: () => readonly ToolCall[],
  echo: () => object | null,
  refusal: string | null = null,
): ModelEvent[] {
  const refused = refusal !== null && { refusal }
  if (cutsOff(reason)) return [{ type: 'end', reason, usage, ...refused }]
  const made = calls()
  // Several vendors say `stop` after tool calls, others `tool_calls` without any.
  if (made.length === 0) return [{ type: 'end', reason: 'stop', usage, ...refused }]
  const kept = echo()
  const end: End = { type: 'end', reason: 'tool_calls', usage, ...(kept && { echo: kept }) }
  return [...made.map(meant), end]
}
