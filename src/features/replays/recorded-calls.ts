/** Answers the calls of a replay with the results on record: no tool is ever called (contract section 28). */

import { resultText } from '../../actors/history/decided-calls.ts'
import { laterText, unknownOutcome } from '../../actors/history/tool-turns.ts'
import type { HistoryDecision, OwnTool, Toolbox, ToolCall } from '../../actors/ports/index.ts'
import type { ReplyEvent } from '../../actors/reply/reply-event.ts'
import { isSameJson } from '../../untrusted/json/equal-json.ts'
import type { Divergence } from './store/cases.ts'

/** A reply with what became of its calls that were pending. */
export interface RecordedReply {
  events: readonly ReplyEvent[]
  waited: readonly HistoryDecision[]
}

type CallEvent = Extract<ReplyEvent, { type: 'tool_call' }>

interface Recorded extends Pick<CallEvent, 'name' | 'arguments'> {
  /** Undefined where only the name is known. */
  tool: string | null | undefined
  ok: boolean
  content: string
}

/**
 * Returns the calls of the agent's tools in a reply and those that it continues, oldest first, with the results that the
 * model was told.
 */
export function recordedCalls(replies: readonly RecordedReply[]): Recorded[] {
  const calls: { call: CallEvent; decided: HistoryDecision | undefined; result?: Pick<Recorded, 'ok' | 'content'> }[] =
    []
  for (const { events, waited } of replies)
    for (const event of events) {
      if (event.type === 'tool_call') calls.push({ call: event, decided: waited.find(({ id }) => id === event.id) })
      if (event.type !== 'tool_result') continue
      // A provider may give each turn's calls the same ids.
      const answered = calls.find(({ call, result }) => call.id === event.id && result === undefined)
      if (answered) answered.result = { ok: event.ok, content: resultText(event.content, answered.decided?.arguments) }
    }
  return calls
    .filter(({ call }) => call.waits !== 'caller')
    .map(({ call: { name, arguments: text, tool, waits }, decided, result }) => ({
      ...{ name, arguments: text, tool, ok: false },
      ...(result ?? { content: decided || waits ? laterText(decided) : unknownOutcome }),
    }))
}

/** Returns whether arguments are equal. Text that is no JSON equals itself alone. */
const isSame = (one: string, other: string): boolean => one === other || isSameJson(one, other)

/** Returns whether a call on record is one of this tool: by identity, or by name where the reply is older than those. */
const isOfTool = (recorded: Recorded, name: string, own: OwnTool | undefined): boolean =>
  recorded.tool === undefined || (recorded.tool === null && own === undefined)
    ? recorded.name === name
    : recorded.tool === own?.key

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
  const own = toolbox.own && new Map([...toolbox.own].map(([name, { key }]) => [name, { key, needsApproval: false }]))
  return {
    tools: toolbox.tools,
    ...(own && { own }),
    ...(toolbox.missing && { missing: toolbox.missing }),
    async call({ name, arguments: text }: ToolCall, signal) {
      const at = left.findIndex((one) => isOfTool(one, name, own?.get(name)) && isSame(one.arguments, text))
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
