/** Replies that another one goes on from: to a UI they are one message (contract section 15). */
import { resultOfDecision } from '../../../actors/history/decided-calls.ts'
import { isSent } from '../../../actors/reply/reply-event.ts'
import { type CallOutcome, notMade, outcomeUnknown } from '../../streaming/outlined-calls.ts'
import type { Outline } from '../../streaming/reply-outline.ts'
import type { MessageWithEvents } from '../shared/reply-events.ts'

/** Outlines earlier replies, in order: the outline goes on from them. */
export function outlineEarlier(outline: Outline, replies: readonly MessageWithEvents[]): void {
  for (const { events, waits } of replies) {
    outline.begin()
    for (const event of events) outline.event(event)
    outline.end(waits)
  }
}

/** Returns what is stored of the calls of these replies that waited, by their ids. */
export function callOutcomes(replies: readonly MessageWithEvents[]): Map<string, CallOutcome> {
  const waited = replies.flatMap((reply) => reply.waited)
  return new Map(waited.map((one) => [one.id, callOutcomeOf(one)]))
}

function callOutcomeOf({ open, decision, ...one }: MessageWithEvents['waited'][number]): CallOutcome {
  if (open || decision === null) return { decided: null, result: open ? null : notMade }
  const decided = { approved: decision !== 'reject' && decision !== 'expired', reason: one.reason }
  if (!isSent(decision)) {
    const { ok, content, denied = false } = resultOfDecision({ ...one, decision })
    return { decided, result: { ok, denied, text: content } }
  }
  if (one.content !== null) return { decided, result: { ok: one.ok, denied: false, text: one.content } }
  return { decided, result: one.begun ? outcomeUnknown : notMade }
}
