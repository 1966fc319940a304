/** Combines several observers into one. Each implements only what it needs. */
import type {
  ModelCallEvent,
  Observed,
  ObservedReply,
  ObservedToolCall,
  Observer,
  ReplyProgress,
  ToolCallEvent,
} from '../actors/ports/observer.ts'

export interface PartialReplyObserver extends Partial<Observed<ReplyProgress>> {
  modelCall?(purpose?: 'summary'): Partial<Observed<ModelCallEvent>>
  toolCall?(call: ObservedToolCall): Partial<Observed<ToolCallEvent>>
}

export interface PartialObserver {
  begin(reply: ObservedReply): PartialReplyObserver
}

export const together = (observers: readonly PartialObserver[]): Observer => ({
  begin(reply) {
    const all = observers.map((observer) => observer.begin(reply))
    return {
      ...allOf(all),
      modelCall: (purpose) => allOf(all.map((one) => one.modelCall?.(purpose) ?? {})),
      toolCall: (call) => allOf(all.map((one) => one.toolCall?.(call) ?? {})),
    }
  },
})

const allOf = <Event>(all: readonly Partial<Observed<Event>>[]): Observed<Event> => ({
  on(event) {
    for (const one of all) one.on?.(event)
  },
  within: (work) =>
    all.reduceRight<() => ReturnType<typeof work>>(
      (inner, { within }) => (within === undefined ? inner : () => within(inner)),
      work,
    )(),
})
