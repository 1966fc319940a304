/** The messages to the model about pending calls that were decided (contract section 15). Pure. */
import type { DecidedCall } from '../../actors/ports/index.ts'
import type { ReplyEvent } from '../../actors/reply/reply-event.ts'

export const notApprovedHere =
  'Not approved: a call of this tool needs somebody who approves it, and here nobody can be asked. It was not made.'
export const neverMade = 'The call was not made: the reply that was to make it ended before.'

interface Decided extends Pick<DecidedCall, 'decision'> {
  output?: string | null | undefined
  reason?: string | null | undefined
}

/** Returns the text that tells the model of a call that was rejected, or answered by the decision. */
export function decisionText({ decision, output, reason }: Decided): string {
  if (decision === 'respond') return output ?? ''
  return !reason ? 'The call was rejected. It was not made.' : `The call was rejected, and not made: ${reason}`
}

/** Returns the result of an approved call as sent to the model. It names the arguments if they were changed. */
export const resultText = (content: string, changed: string | null | undefined): string =>
  changed == null ? content : `It was approved with other arguments: ${changed}\n\n${content}`

/**
 * Returns the result, as readers see it, of a call that was rejected or answered by its decision: the decision says all
 * of it.
 */
export function resultOfDecision(decided: Decided & { id: string }): Extract<ReplyEvent, { type: 'tool_result' }> {
  const isDenied = decided.decision === 'reject'
  const result = { ok: !isDenied, content: decisionText(decided), durationMs: 0 }
  return { type: 'tool_result', id: decided.id, ...result, ...(isDenied && { denied: true }) }
}
