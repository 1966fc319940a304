/** The model's words about pending calls that were decided (contract section 15). Pure. */
import type { DecidedCall } from '../ports/index.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'

export const neverMade = 'The call was not made: the reply that was to make it ended before.'

interface Decided extends Pick<DecidedCall, 'decision'> {
  output?: string | null | undefined
  reason?: string | null | undefined
}

/** Returns the text that the model is sent of a call that was rejected, or answered by the decision. */
export function decisionText({ decision, output, reason }: Decided): string {
  if (decision === 'respond') return output ?? ''
  if (decision === 'expired') return 'Nobody decided about the call in time. It was not made.'
  return !reason ? 'The call was rejected. It was not made.' : `The call was rejected, and not made: ${reason}`
}

/** Returns the result of an approved call as the model gets it: with the arguments, where they were changed. */
export const resultText = (content: string, changed: string | null | undefined): string =>
  changed == null ? content : `It was approved with other arguments: ${changed}\n\n${content}`

/**
 * Returns the result, as readers see it, of a call that was rejected or answered by its decision: the decision says all
 * of it.
 */
export function resultOfDecision(decided: Decided & { id: string }): Extract<ReplyEvent, { type: 'tool_result' }> {
  const isDenied = decided.decision === 'reject' || decided.decision === 'expired'
  const result = { ok: !isDenied, content: decisionText(decided), durationMs: 0 }
  return { type: 'tool_result', id: decided.id, ...result, ...(isDenied && { denied: true }) }
}
