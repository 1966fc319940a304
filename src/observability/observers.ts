/** Several who measure the same, as one. */
import type { ModelCallEnd, Observer } from '../actors/observer.ts'

export const together = (observers: readonly Observer[]): Observer => ({
  begin(reply) {
    const all = observers.map((observer) => observer.begin(reply))
    return {
      modelCall() {
        const ends = all.map((one) => one.modelCall())
        return (end: ModelCallEnd) => {
          for (const ended of ends) ended(end)
        }
      },
      toolCall(call) {
        const ends = all.map((one) => one.toolCall(call))
        return (ok) => {
          for (const ended of ends) ended(ok)
        }
      },
      settling() {
        for (const one of all) one.settling()
      },
      ended(outcome, usage) {
        for (const one of all) one.ended(outcome, usage)
      },
    }
  },
})
