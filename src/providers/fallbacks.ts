/** The models of a request, one after the other (contract sections 13 and 19). */
import type { Model, ModelEvent, ModelRequest, ModelTarget, Take } from '../actors/ports/index.ts'
import { fieldRefusal, withAgentFields } from './answer-fields.ts'
import type { StreamOne } from './context/within-context.ts'
import { partRefusal } from './parts.ts'

/** Calls the next model when one failed before any output. When all fail, the last failure is reported. */
export function withFallbacks(streamOne: StreamOne): Model['stream'] {
  return async (request, signal, take) => {
    const targets = [request, ...fallbacksFor(request)]
    for (const [index, { provider, model }] of targets.entries()) {
      const named: ModelEvent[] = index === 0 ? [] : [{ type: 'model', model, providerId: provider.id }]
      const fields = withAgentFields({ ...request, provider, model }, index > 0)
      const own = { ...request, provider, model, fields }
      const streamed = index === 0 ? streamOne : asFallback(streamOne, request)
      const failed = await streamed(own, signal, naming(named, take))
      if (failed === null) return
      const isLast = index === targets.length - 1 || !failed.maySucceedElsewhere
      if (isLast) return await take([...named, { type: 'failed', failure: failed.failure }])
      request.calls?.({ type: 'fell_back', code: failed.failure.code, detail: failed.failure.detail })
    }
  }
}

/** Fields that an agent may set, with the words by which providers name them in an error. */
const agentsOwn = [
  ['reasoningEffort', /effort|thinking/i],
  ['maxTokens', /max\w*tokens/i],
] as const

/** Asks a fallback that refuses the agent's own fields without them. What the request names is never dropped. */
function asFallback(streamOne: StreamOne, { fields: asked = {} }: ModelRequest): StreamOne {
  return async (request, signal, take) => {
    const fields = { ...request.fields }
    for (;;) {
      const failed = await streamOne({ ...request, fields }, signal, take)
      const words = failed?.refused ?? ''
      const field = agentsOwn.find(
        ([name, pattern]) => fields[name] !== undefined && asked[name] === undefined && pattern.test(words),
      )
      if (!field || signal.aborted) return failed
      delete fields[field[0]]
    }
  }
}

/** Removes models that do not accept the request's content. */
const fallbacksFor = ({ fallbacks = [], fields = {}, mediaTypes = [] }: ModelRequest): readonly ModelTarget[] =>
  fallbacks.filter((target) => fieldRefusal(target, fields) === null && partRefusal(target, mediaTypes) === null)

/** Inserts `named` before the first of the events. */
function naming(named: ModelEvent[], take: Take<ModelEvent>): Take<ModelEvent> {
  return (events) => (named.length === 0 ? take(events) : take([...named.splice(0), ...events]))
}
