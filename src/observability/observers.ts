/** Several observers of the same, as one. */
import type { ModelCallObserver, Observer, ToolCallObserver, Within } from '../actors/observer.ts'

export const together = (observers: readonly Observer[]): Observer => ({
  begin(reply) {
    const all = observers.map((observer) => observer.begin(reply))
    return {
      modelCall: () => modelCalls(all.map((one) => one.modelCall())),
      toolCall: (call) => toolCalls(all.map((one) => one.toolCall(call))),
      within: (work) => withinAll(all, work),
      settling() {
        for (const one of all) one.settling()
      },
      ended(end) {
        for (const one of all) one.ended(end)
      },
    }
  },
})

const modelCalls = (all: readonly ModelCallObserver[]): ModelCallObserver => ({
  called(url) {
    for (const one of all) one.called(url)
  },
  retried(retry) {
    for (const one of all) one.retried(retry)
  },
  within: (work) => withinAll(all, work),
  ended(end) {
    for (const one of all) one.ended(end)
  },
})

const toolCalls = (all: readonly ToolCallObserver[]): ToolCallObserver => ({
  within: (work) => withinAll(all, work),
  ended(ok) {
    for (const one of all) one.ended(ok)
  },
})

const withinAll = <T>(all: readonly Within[], work: () => T): T =>
  all.reduceRight<() => T>((inner, one) => () => one.within(inner), work)()
