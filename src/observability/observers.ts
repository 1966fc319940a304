/** Combines several observers into one. Each implements only what it needs. */
import type {
  ModelCallObserver,
  ObservedReply,
  ObservedToolCall,
  Observer,
  ReplyObserver,
  ToolCallObserver,
  Within,
} from '../actors/ports/observer.ts'

export interface PartialReplyObserver extends Partial<Omit<ReplyObserver, 'modelCall' | 'toolCall'>> {
  modelCall?(purpose?: 'summary'): Partial<ModelCallObserver>
  toolCall?(call: ObservedToolCall): Partial<ToolCallObserver>
}

export interface PartialObserver {
  begin(reply: ObservedReply): PartialReplyObserver
}

export const together = (observers: readonly PartialObserver[]): Observer => ({
  begin(reply) {
    const all = observers.map((observer) => observer.begin(reply))
    return {
      modelCall: (purpose) => modelCalls(all.map((one) => one.modelCall?.(purpose) ?? {})),
      toolCall: (call) => toolCalls(all.map((one) => one.toolCall?.(call) ?? {})),
      within: (work) => withinAll(all, work),
      notMade(call) {
        for (const one of all) one.notMade?.(call)
      },
      settling() {
        for (const one of all) one.settling?.()
      },
      ended(end) {
        for (const one of all) one.ended?.(end)
      },
    }
  },
})

const modelCalls = (all: readonly Partial<ModelCallObserver>[]): ModelCallObserver => ({
  called(call) {
    for (const one of all) one.called?.(call)
  },
  sent(request, body) {
    for (const one of all) one.sent?.(request, body)
  },
  answered(status) {
    for (const one of all) one.answered?.(status)
  },
  firstToken() {
    for (const one of all) one.firstToken?.()
  },
  callEnded(outcome, status) {
    for (const one of all) one.callEnded?.(outcome, status)
  },
  retried(retry) {
    for (const one of all) one.retried?.(retry)
  },
  fellBack(failure) {
    for (const one of all) one.fellBack?.(failure)
  },
  within: (work) => withinAll(all, work),
  ended(end) {
    for (const one of all) one.ended?.(end)
  },
})

const toolCalls = (all: readonly Partial<ToolCallObserver>[]): ToolCallObserver => ({
  within: (work) => withinAll(all, work),
  ended(ok) {
    for (const one of all) one.ended?.(ok)
  },
})

const withinAll = <T>(all: readonly Partial<Within>[], work: () => T): T =>
  all.reduceRight<() => T>((inner, { within }) => (within === undefined ? inner : () => within(inner)), work)()
