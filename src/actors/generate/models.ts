/** The models that a reply asks, and those that its readers know of (contract section 13). */

import type { ModelEvent, ModelRequest, ModelTarget, ProviderCalls } from '../ports/index.ts'
import type { MissingServer, ReplyEvent } from '../reply/reply-event.ts'

type Named = Omit<Extract<ModelEvent, { type: 'model' }>, 'type'>

export type ModelAttribution = ReturnType<typeof createModelAttribution>

/** Creates the record of a reply's models. Every turn begins with `first`, whom the role frame names. */
export function createModelAttribution(first: ModelTarget, from?: { attempts: number; model: Named | null }) {
  const own: Named = { model: first.model, providerId: first.provider.id }
  let known = from?.model ?? own
  let current = own
  let attempts = from?.attempts ?? 0
  let firstTokenAt: number | null = null
  let lastSent: ModelRequest | null = null
  let refusedWith: number | null = null
  return {
    /** Calls to providers. */
    attempts: () => attempts,
    /** Returns when the reply's first text or reasoning came (ms, monotonic). */
    firstTokenAt: () => firstTokenAt,
    /** Returns the request of the last call. Null when none was made. */
    lastSent: () => lastSent,
    /** Returns the HTTP status with which the last call was refused. Null when it was not, or is made again. */
    refusedWith: () => refusedWith,
    beginTurn(): void {
      current = own
    },
    answers({ model, providerId }: Named): void {
      current = { model, providerId }
    },
    /**
     * Returns the events to emit before those of the turn's model, and when it fails. Empty when readers know its name.
     */
    changeEvents(): ReplyEvent[] {
      if (current.model === known.model && current.providerId === known.providerId) return []
      known = current
      return [{ type: 'model', ...current }]
    },
    /** Returns the event that tells which servers the reply goes without. */
    lacking: (missing: readonly MissingServer[]): ReplyEvent => ({ type: 'model', ...known, missing: [...missing] }),
    /** Counts calls that make nothing of the reply itself. */
    countingOthers:
      (calls: ProviderCalls): ProviderCalls =>
      (event) => {
        if (event.type === 'called') attempts += 1
        calls(event)
      },
    countingCalls:
      (calls: ProviderCalls): ProviderCalls =>
      (event) => {
        if (event.type === 'called') attempts += 1
        else if (event.type === 'sent') lastSent = event.request
        else if (event.type === 'call_ended') refusedWith = event.status
        else if (event.type === 'retried' || event.type === 'fell_back') refusedWith = null
        else if (event.type === 'first_token') firstTokenAt ??= performance.now()
        calls(event)
      },
  }
}
