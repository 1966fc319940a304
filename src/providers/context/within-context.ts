/**
 * A model is sent no more than it takes: limits that providers name are remembered, refusals are answered by less history.
 */
import type { ModelEvent, ModelFailure, ModelRequest, Take } from '../../actors/ports/index.ts'
import type { Overflow } from './overflow.ts'

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

interface KnownLimit {
  /** The limit in tokens, as the provider counts them. */
  limit: number
  /** What the provider counts for a token that is estimated. */
  perEstimated: number
}

/** Limits that are remembered; beyond, all are forgotten, and found out again. */
const MAX_KEPT = 1000

export type KnownLimits = Map<string, KnownLimit>

const nameOf = ({ provider, model }: Pick<ModelRequest, 'provider' | 'model'>): string =>
  `${provider.id} ${provider.baseUrl} ${model}`

/** Estimates are off by a fifth at worst once they were corrected. */
const MARGIN = 0.9

export function withinContext(streamOne: StreamOne, limits: KnownLimits): StreamOne {
  return async (request, signal, take) => {
    const fitting = fitted(request, limits)
    const failed = await streamOne(fitting, signal, take)
    const overflow = failed?.overflow
    if (!overflow) return failed
    remember(limits, fitting, overflow)
    const shorter = afterRefusal(fitting, limits)
    if (shorter === null || signal.aborted) return failed
    const again = await streamOne(shorter, signal, take)
    if (again?.overflow) remember(limits, shorter, again.overflow)
    return again
  }
}

function remember(limits: KnownLimits, request: ModelRequest, { limit, size }: Overflow): void {
  if (limit === null) return
  const estimated = request.shortening?.tokens ?? 0
  const perEstimated = size !== null && estimated > 0 ? Math.max(0.3, size / estimated) : 1
  if (limits.size >= MAX_KEPT) limits.clear()
  limits.set(nameOf(request), { limit, perEstimated })
}

/** Tokens of history that a known limit leaves beside all else and the answer. Null when no limit is known. */
function roomFor(request: ModelRequest, limits: KnownLimits): number | null {
  const known = limits.get(nameOf(request))
  const { shortening } = request
  if (!known || !shortening) return null
  const answer = request.fields?.maxTokens?.value ?? 0
  const { tokens, historyTokens } = shortening
  return ((known.limit - answer) * MARGIN) / known.perEstimated - (tokens - historyTokens)
}

function fitted(request: ModelRequest, limits: KnownLimits): ModelRequest {
  const room = roomFor(request, limits)
  if (room === null || (request.shortening?.historyTokens ?? 0) <= room) return request
  return { ...request, ...request.shortening?.to(room) }
}

/** Half of the history that was sent, or what the named limit leaves if that is less. Null when nothing can be left out. */
function afterRefusal(request: ModelRequest, limits: KnownLimits): ModelRequest | null {
  const { shortening } = request
  if (!shortening) return null
  const shorter = shortening.to(
    Math.min(shortening.historyTokens / 2, roomFor(request, limits) ?? Number.POSITIVE_INFINITY),
  )
  return shorter && { ...request, ...shorter }
}
