/** The tool calls of a stored message as the playground shows them, with the decisions about pending ones. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { decisionText } from '../../../actors/history/decided-calls.ts'
import { isSent } from '../../../actors/reply/reply-event.ts'
import { childOf } from '../../../features/children/index.ts'
import type { Message, WaitedCall } from '../../../features/sessions/index.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'

type ToolCallShown = components['schemas']['PlaygroundToolCall']

export function toolCallsOf({ toolEvents, waited }: Message): ToolCallShown[] {
  const calls = new Map<string, ToolCallShown & { waits: boolean }>()
  for (const { event, offset } of toolEvents) {
    switch (event.type) {
      case 'tool_call': {
        const { id, name, arguments: text, startedAt, waits, by } = event
        const child = childOf(event)
        const shown = { id, name, arguments: text, ok: null, content: null, offset, startedAt, durationMs: null }
        const before = by && { decisionId: by.id, decision: by.decision, decidedAt: by.at, decidedBy: by.name }
        calls.set(id, { ...shown, ...before, ...(child && { child }), waits: waits !== undefined })
        break
      }
      case 'tool_result': {
        const { id, ok, content, durationMs } = event
        const call = calls.get(id)
        if (call && !call.waits) Object.assign(call, { ok, content, durationMs })
        break
      }
      case 'tool_asked': {
        const call = calls.get(event.id)
        if (call) call.waits = true
        break
      }
      case 'text':
      case 'reasoning':
      case 'tool_begun':
      case 'tool_unknown':
      case 'model':
        break // no part of a call that is shown: one without a result shows that its outcome is unknown
      default:
        event satisfies never
    }
  }
  return [...calls.values()].map(({ waits, ...call }) => {
    const one = waited.find(({ id }) => id === call.id)
    // A call that another session answers has no decision of its own.
    if (one?.kind === 'child' && !waits)
      return { ...call, ok: one.ok, content: one.content, durationMs: one.durationMs }
    return waits ? { ...call, ...decisionShown(one) } : call
  })
}

const answerShown = ({ content, ...answer }: NonNullable<WaitedCall['answers']>[number]) => ({
  ...answer,
  content: content === null ? null : Object(parseExact(content)),
})

/** Returns the decision about a pending call, and its result. */
function decisionShown(waited: WaitedCall | undefined) {
  if (waited === undefined) return { decision: null, decidedAt: null, decidedBy: null, decidedArguments: null }
  const { decision, decidedAt, decidedBy, arguments: decidedArguments, durationMs, ok, content, answers } = waited
  const how = {
    decision,
    decidedAt,
    decidedBy,
    decidedArguments,
    ...(answers && { answers: answers.map(answerShown) }),
  }
  if (decision === null || isSent(decision)) return { ...how, ok, content, durationMs }
  return { ...how, ok: decision === 'respond', content: decisionText({ ...waited, decision }), durationMs: null }
}
