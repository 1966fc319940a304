/** Which models a reply asks, and which of them its readers know of (contract section 13). */
import type { ModelEvent, ModelRequest, ModelTarget, ProviderCalls } from '../ports/index.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'

type Named = Omit<Extract<ModelEvent, { type: 'model' }>, 'type'>

export type ModelAttribution = ReturnType<typeof createModelAttribution>

/** Every turn begins with `first`, whom the role frame names. */
export function createModelAttribution(first: ModelTarget) {
  const own: Named = { model: first.model, providerId: first.provider.id }
  let known = own
  let current = own
  let attempts = 0
  let firstTokenAt: number | null = null
  let lastSent: ModelRequest | null = null
  return {
    /** Calls to providers. */
    attempts: () => attempts,
    /** When the reply's first text or reasoning came (ms, monotonic). */
    firstTokenAt: () => firstTokenAt,
    /** What the last call was sent. Null: none was made. */
    lastSent: () => lastSent,
    beginTurn(): void {
      current = own
    },
    answers({ model, providerId }: Named): void {
      current = { model, providerId }
    },
    /** Events to emit before what the turn's model makes, and when it fails; empty where readers know its name. */
    changeEvents(): ReplyEvent[] {
      if (current.model === known.model && current.providerId === known.providerId) return []
      known = current
      return [{ type: 'model', ...current }]
    },
    /** Of calls that make nothing of the reply itself. */
    countingOthers: (calls: ProviderCalls): ProviderCalls => ({
      ...calls,
      called(call) {
        attempts += 1
        calls.called(call)
      },
    }),
    countingCalls: (calls: ProviderCalls): ProviderCalls => ({
      called(call) {
        attempts += 1
        calls.called(call)
      },
      sent(request, body) {
        lastSent = request
        calls.sent(request, body)
      },
      answered: calls.answered,
      firstToken() {
        firstTokenAt ??= performance.now()
        calls.firstToken()
      },
      callEnded: calls.callEnded,
      retried: calls.retried,
      fellBack: calls.fellBack,
    }),
  }
}
