/** The tool calls of a stored message as the playground shows them, with the decisions about pending ones. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { decisionText } from '../../../features/approvals/decided-calls.ts'
import type { WaitedCall } from '../../../features/approvals/store/waits.ts'
import type { Message } from '../../../persistence/replies/reading/message-rows.ts'

type ToolCallShown = components['schemas']['PlaygroundToolCall']

export function toolCallsOf({ toolEvents, waited }: Message): ToolCallShown[] {
  const calls = new Map<string, ToolCallShown & { waits: boolean }>()
  for (const { event, offset } of toolEvents) {
    if (event.type === 'tool_call') {
      const { id, name, startedAt, waits } = event
      const shown = {
        id,
        name,
        arguments: event.arguments,
        ok: null,
        content: null,
        offset,
        startedAt,
        durationMs: null,
      }
      calls.set(id, { ...shown, waits: waits !== undefined })
    } else if (event.type === 'tool_result') {
      const { id, ok, content, durationMs } = event
      const call = calls.get(id)
      if (call && !call.waits) Object.assign(call, { ok, content, durationMs })
    }
  }
  return [...calls.values()].map(({ waits, ...call }) =>
    waits ? { ...call, ...decisionShown(waited.find(({ id }) => id === call.id)) } : call,
  )
}

/** Returns the decision about a pending call, and its result. */
function decisionShown(waited: WaitedCall | undefined) {
  if (waited === undefined) return { decision: null, decidedAt: null, decidedBy: null, decidedArguments: null }
  const { decision, decidedAt, decidedBy, arguments: decidedArguments, durationMs, ok, content } = waited
  const how = { decision, decidedAt, decidedBy, decidedArguments }
  if (decision === null || decision === 'approve') return { ...how, ok, content, durationMs }
  return { ...how, ok: decision === 'respond', content: decisionText({ ...waited, decision }), durationMs: null }
}
