/**
 * A model is sent no more than it takes: limits that providers name are remembered, refusals are answered by less history.
 */
import type { ModelEvent, ModelFailure, ModelRequest, Shortening, Take } from '../../actors/ports/index.ts'
import type { Remembered } from '../wire/remembered.ts'
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

/** In tokens, as the provider counts them, by provider and model. */
export type KnownLimits = Remembered<number>

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
    const shorter = afterRefusal(fitting, overflow, limits)
    if (shorter === null || signal.aborted) return failed
    const again = await streamOne(shorter, signal, take)
    if (again?.overflow) remember(limits, shorter, again.overflow)
    return again
  }
}

/** The limit alone: what one caller's words take says nothing of anybody else's. */
function remember(limits: KnownLimits, request: ModelRequest, { limit }: Overflow): void {
  if (limit !== null) limits.set(nameOf(request), limit)
}

const mostOfAnswer = ({ fields }: ModelRequest): number => fields?.maxTokens?.value ?? 0

/** Estimated tokens of history for which `most` tokens, as the provider counts them, have room beside all else. */
function roomIn(most: number, { tokens, historyTokens }: Shortening, perEstimated = 1): number {
  return most / perEstimated - (tokens - historyTokens)
}

/** A request that would not fit without any history keeps it: the provider says in its own words what is too much. */
function fitted(request: ModelRequest, limits: KnownLimits): ModelRequest {
  const { shortening } = request
  const limit = limits.get(nameOf(request))
  if (limit === undefined || !shortening) return request
  const most = limit - mostOfAnswer(request)
  const room = roomIn(most * MARGIN, shortening)
  if (roomIn(most, shortening) <= 0 || shortening.historyTokens <= room) return request
  return { ...request, ...shortening.to(room) }
}

/**
 * Half of the history that was sent, or what the named limit leaves if that is less. Null when nothing can be left out, or
 * when it is the answer that is too much beside what always stays.
 */
function afterRefusal(request: ModelRequest, { size, answer }: Overflow, limits: KnownLimits): ModelRequest | null {
  const { shortening } = request
  if (!shortening) return null
  const limit = limits.get(nameOf(request))
  const half = shortening.historyTokens / 2
  if (limit === undefined) return shortened(request, shortening, half)
  const perEstimated = shortening.correction(size)
  const most = limit - (answer ?? mostOfAnswer(request))
  const hasRoom = roomIn(most, shortening, perEstimated) > 0
  if (!hasRoom && answer !== null) return null
  // A provider that names no answer may not count it.
  const room = roomIn((hasRoom ? most : limit) * MARGIN, shortening, perEstimated)
  return shortened(request, shortening, Math.min(half, room))
}

function shortened(request: ModelRequest, shortening: Shortening, historyTokens: number): ModelRequest | null {
  const shorter = shortening.to(historyTokens)
  return shorter && { ...request, ...shorter }
}
