/** How a turn ends, whichever vendor's it is. */
import type { EndReason, ModelEvent, ToolCall } from '../../actors/ports/index.ts'
import { cutsOff, finishReasons } from '../../actors/reply/reply-event.ts'

export type End = Extract<ModelEvent, { type: 'end' }>

/** A vendor's words for the reasons that it gives. */
export type ReasonWords = Readonly<Partial<Record<EndReason, readonly string[]>>>

const endReasons = finishReasons.filter((reason) => reason !== 'cancelled')

/** A word that is unknown, or missing, means `stop`. */
export const reasonIn = (words: ReasonWords, word: string | null): EndReason =>
  endReasons.find((reason) => word !== null && words[reason]?.includes(word)) ?? 'stop'

/** The tool calls, then the end. A call cut off by the length limit or a filter must not run. `echo`: what the vendor wants back with their results; null: nothing. */
export function turnEnd(
  reason: EndReason,
  usage: End['usage'],
  calls: () => readonly ToolCall[],
  echo: () => object | null,
): ModelEvent[] {
  if (cutsOff(reason)) return [{ type: 'end', reason, usage }]
  const made = calls()
  // Several vendors say `stop` after tool calls, others `tool_calls` without any.
  if (made.length === 0) return [{ type: 'end', reason: 'stop', usage }]
  const kept = echo()
  const end: End = { type: 'end', reason: 'tool_calls', usage, ...(kept && { echo: kept }) }
  return [...made.map((call): ModelEvent => ({ type: 'tool_call', call })), end]
}
