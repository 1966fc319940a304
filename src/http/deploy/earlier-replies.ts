/** Replies that another one goes on from: to a UI they are one message (contract section 15). */
import { decisionText, neverMade } from '../../actors/generate/decided-calls.ts'
import type { MessageWithEvents } from '../../persistence/replies/reading/reply-events.ts'
import type { CallOutcome, Outline } from '../streaming/reply-outline.ts'

/** The outline goes on from them, in order. */
export function outlineEarlier(outline: Outline, replies: readonly MessageWithEvents[]): void {
  for (const { events, waits } of replies) {
    outline.begin()
    for (const event of events) outline.event(event)
    outline.end(waits)
  }
}

/** What became of the calls of these replies that no later one has a result of. */
export function callOutcomes(replies: readonly MessageWithEvents[]): Map<string, CallOutcome> {
  const waited = replies.flatMap((reply) => reply.waited)
  return new Map(waited.map((one) => [one.id, callOutcomeOf(one)]))
}

function callOutcomeOf({ open, decision, ...decided }: MessageWithEvents['waited'][number]): CallOutcome {
  if (open) return 'pending'
  if (decision === 'reject') return { denied: true, text: decisionText({ ...decided, decision }) }
  return { denied: false, text: neverMade }
}
