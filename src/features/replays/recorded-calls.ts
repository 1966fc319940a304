/** Answers the calls of a replay with the results on record: no tool is ever called (contract section 28). */
import { unknownOutcome } from '../../actors/history/tool-turns.ts'
import type { Toolbox, ToolCall } from '../../actors/ports/index.ts'
import type { ReplyEvent } from '../../actors/reply/reply-event.ts'
import { isSameJson } from '../../untrusted/json/equal-json.ts'
import type { Divergence } from './store/cases.ts'

interface Recorded {
  name: string
  /** JSON text. */
  arguments: string
  ok: boolean
  content: string
}

/** Returns the calls of a reply, in order, with their results. */
export function recordedCalls(events: readonly ReplyEvent[]): Recorded[] {
  const results = new Map(events.flatMap((event) => (event.type === 'tool_result' ? [[event.id, event] as const] : [])))
  return events.flatMap((event) => {
    if (event.type !== 'tool_call') return []
    const { ok = false, content = unknownOutcome } = results.get(event.id) ?? {}
    return [{ name: event.name, arguments: event.arguments, ok, content }]
  })
}

/** Returns whether arguments are equal. Text that is no JSON equals itself alone. */
const isSame = (one: string, other: string): boolean => one === other || isSameJson(one, other)

/**
 * Returns a toolbox that offers the same tools and answers each call with the first equal one on record, once.
 * `onDivergence` is told of a call that has no such result; that call never ends.
 */
export function answering(
  toolbox: Toolbox,
  recorded: readonly Recorded[],
  onDivergence: (divergence: Divergence) => void,
): Toolbox {
  const left = [...recorded]
  let answered = 0
  const own = toolbox.own && new Map([...toolbox.own].map(([name, tool]) => [name, { ...tool, needsApproval: false }]))
  return {
    tools: toolbox.tools,
    ...(own && { own }),
    ...(toolbox.missing && { missing: toolbox.missing }),
    async call({ name, arguments: text }: ToolCall, signal) {
      const at = left.findIndex((one) => one.name === name && isSame(one.arguments, text))
      const [found] = at < 0 ? [] : left.splice(at, 1)
      if (found) {
        answered += 1
        return { ok: found.ok, content: found.content }
      }
      onDivergence({ name, arguments: text, position: answered })
      return await new Promise((_, reject) => {
        const stop = () => reject(signal.reason)
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop, { once: true })
      })
    },
  }
}
