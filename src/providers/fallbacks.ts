/** One model turn by the first of several models that answers (contract section 13). */
import type { Model, ModelEvent, ModelFailure, ModelRequest, ModelTarget, Take } from '../actors/ports/index.ts'
import { fieldRefusal, withAgentFields } from './answer-fields.ts'
import type { Overflow } from './context/overflow.ts'
import { partRefusal } from './parts.ts'

/** A turn that failed. `maySucceedElsewhere`: nothing of it was made, and another model may be asked. */
interface FailedTurn {
  failure: ModelFailure
  maySucceedElsewhere: boolean
  /** The input is too long for this model. Null when it is something else, or the model has made something. */
  overflow: Overflow | null
}

/** A turn of the request's own model, its retries included; emits no `failed`. Null when it took place, or was aborted. */
export type StreamOne = (
  request: ModelRequest,
  signal: AbortSignal,
  take: Take<ModelEvent>,
) => Promise<FailedTurn | null>

/** Asks the next model when one failed before it made anything. When all fail, the last one's failure counts. */
export function withFallbacks(streamOne: StreamOne): Model['stream'] {
  return async (request, signal, take) => {
    const targets = [request, ...fallbacksFor(request)]
    for (const [index, { provider, model }] of targets.entries()) {
      const named: ModelEvent[] = index === 0 ? [] : [{ type: 'model', model, providerId: provider.id }]
      const fields = withAgentFields({ ...request, provider, model }, index > 0)
      const failed = await streamOne({ ...request, provider, model, fields }, signal, naming(named, take))
      if (failed === null) return
      const isLast = index === targets.length - 1 || !failed.maySucceedElsewhere
      if (isLast) return await take([...named, { type: 'failed', failure: failed.failure }])
      request.calls?.({ type: 'fell_back', code: failed.failure.code, detail: failed.failure.detail })
    }
  }
}

/** Leaves out those that do not accept what the request holds. */
const fallbacksFor = ({ fallbacks = [], fields = {}, mediaTypes = [] }: ModelRequest): readonly ModelTarget[] =>
  fallbacks.filter((target) => fieldRefusal(target, fields) === null && partRefusal(target, mediaTypes) === null)

/** The events, with `named` before the first of them. */
function naming(named: ModelEvent[], take: Take<ModelEvent>): Take<ModelEvent> {
  return (events) => (named.length === 0 ? take(events) : take([...named.splice(0), ...events]))
}
