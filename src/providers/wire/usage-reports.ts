/** Models that report no usage, known in advance so that the token counter is awake when their turn ends. */
import type { ModelEvent, ModelRequest } from '../../actors/ports/index.ts'
import { createRemembered } from './remembered.ts'

/**
 * Watches turns for usage. `expect` is called once in a turn, with its first text, unless usage came or was announced
 * before it, or the model's last turn ended with some. A model that was never called counts as one that reports none:
 * the thread's start costs 0.3 s of another core once, a finish chunk that waits for it comes 0.6 s late.
 */
export function watchUsageReports(expect: () => void) {
  const reporting = createRemembered<true>()
  return ({ provider, model }: Pick<ModelRequest, 'provider' | 'model'>) => {
    const name = `${provider.id} ${model}`
    let undecided = !reporting.get(name)
    return (events: readonly ModelEvent[]): void => {
      const last = events.at(-1)
      if (last?.type === 'end') {
        if (last.usage === null) reporting.delete(name)
        else reporting.set(name, true)
      }
      if (!undecided) return
      if (events.some(isReport)) undecided = false
      else if (events.some(({ type }) => type === 'text')) {
        undecided = false
        expect()
      }
    }
  }
}

const isReport = (event: ModelEvent): boolean =>
  event.type === 'usage' || (event.type === 'activity' && event.usageFollows === true)
