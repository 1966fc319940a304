/**
 * Limits of the demo provider: it keeps to `max_tokens`, `max_completion_tokens` and `stop` (contract section 25), as
 * models do.
 */
import type { AnswerFields, ModelEvent } from '../actors/ports/index.ts'

/** Cuts the demo's answer at its limits. A token is a word with the spaces after it. */
export async function* withinLimits(
  events: AsyncIterable<ModelEvent>,
  { maxTokens, stop = [] }: Pick<AnswerFields, 'maxTokens' | 'stop'>,
): AsyncGenerator<ModelEvent> {
  const most = maxTokens?.value ?? Number.POSITIVE_INFINITY
  const longest = Math.max(0, ...stop.map((one) => one.length))
  /** Text that may be the beginning of a stop sequence. */
  let held = ''
  let tokens = 0
  for await (const event of events) {
    if (event.type !== 'text') {
      if (held !== '') yield { type: 'text', text: held }
      held = ''
      yield event
      continue
    }
    const text = held + event.text
    const at = firstOf(text, stop)
    if (at >= 0) {
      if (at > 0) yield { type: 'text', text: text.slice(0, at) }
      return yield { type: 'end', reason: 'stop', usage: null }
    }
    if (tokens === most) {
      if (held !== '') yield { type: 'text', text: held }
      return yield { type: 'end', reason: 'length', usage: null }
    }
    tokens += 1
    const kept = Math.min(text.length, Math.max(0, longest - 1))
    held = text.slice(text.length - kept)
    if (kept < text.length) yield { type: 'text', text: text.slice(0, text.length - kept) }
  }
}

/** Returns where the first of these begins, or -1. */
function firstOf(text: string, stops: readonly string[]): number {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return places.length === 0 ? -1 : Math.min(...places)
}
