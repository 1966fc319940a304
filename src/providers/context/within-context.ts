/**
 * Keeps requests within a model's context: limits that providers name are remembered, refusals are answered by less
 * history.
 */
import type { ModelEvent, ModelFailure, ModelRequest, Shortening, Take } from '../../actors/ports/index.ts'
import type { Remembered } from '../wire/remembered.ts'
import type { Overflow } from './overflow.ts'

/** A failed turn. `maySucceedElsewhere`: it had no output, and another model may be called. */
interface FailedTurn {
  failure: ModelFailure
  maySucceedElsewhere: boolean
  /** The overflow, when the input is too long for this model. Null for another failure, or after output. */
  overflow: Overflow | null
  /** The words with which the provider refuses the request as it is written. Null for another failure. */
  refused: string | null
}

/**
 * A function that streams a turn of the request's own model, its retries included, and emits no `failed`. It returns
 * null when it took place, or was aborted.
 */
export type StreamOne = (
  request: ModelRequest,
  signal: AbortSignal,
  take: Take<ModelEvent>,
) => Promise<FailedTurn | null>

/** Context limits in tokens, as the provider counts them, by provider and model. */
export type KnownLimits = Remembered<number>

const nameOf = ({ provider, model }: Pick<ModelRequest, 'provider' | 'model'>): string =>
  `${provider.id} ${provider.baseUrl} ${model}`

/** The share of a limit that is used: estimates are off by a fifth at worst once they were corrected. */
const MARGIN = 0.9

export function withinContext(streamOne: StreamOne, limits: KnownLimits): StreamOne {
  return async (request, signal, take) => {
    const fitting = fitted(request, limits)
    const failed = await streamOne(fitting, signal, take)
    const overflow = failed?.overflow
    if (!overflow) return failed
    remember(limits, fitting, overflow)
    const shorter = withLessAnswer(fitting, overflow) ?? afterRefusal(fitting, overflow, limits)
    if (shorter === null || signal.aborted) return failed
    const again = await streamOne(shorter, signal, take)
    if (again?.overflow) remember(limits, shorter, again.overflow)
    return again
  }
}

/** Stores the limit alone: one caller's sizes say nothing about another's. */
function remember(limits: KnownLimits, request: ModelRequest, { limit }: Overflow): void {
  if (limit !== null) limits.set(nameOf(request), limit)
}

const mostOfAnswer = ({ fields }: ModelRequest): number => fields?.maxTokens?.value ?? 0

/**
 * Returns the estimated tokens of history that fit into `most` tokens, as the provider counts them, next to all else.
 */
function roomIn(most: number, { tokens, historyTokens }: Shortening, perEstimated = 1): number {
  return most / perEstimated - (tokens - historyTokens)
}

/**
 * Shortens a request to the known limit. One that would not fit without any history keeps it: the provider says in its
 * own words what is too much.
 */
function fitted(request: ModelRequest, limits: KnownLimits): ModelRequest {
  const { shortening } = request
  const limit = limits.get(nameOf(request))
  if (limit === undefined || !shortening) return request
  const most = limit - mostOfAnswer(request)
  const room = roomIn(most * MARGIN, shortening)
  if (roomIn(most, shortening) <= 0 || shortening.historyTokens <= room) return request
  return { ...request, ...shortening.to(room) }
}

/** The shortest limit of an answer that is worth a request. */
const LEAST_ANSWER = 1024

/**
 * Returns the request with a lower limit of the answer where ours is what was too much: Anthropic's API requires one,
 * and older models count it into the context. Null where a caller set it, or where too little would be left.
 */
function withLessAnswer(request: ModelRequest, { limit, size, answer }: Overflow): ModelRequest | null {
  const { provider, fields } = request
  if (provider.type !== 'anthropic' || fields?.maxTokens || answer === null) return null
  const left = limit === null || size === null ? 0 : limit - size
  return left < LEAST_ANSWER
    ? null
    : { ...request, fields: { ...fields, maxTokens: { name: 'max_tokens', value: left } } }
}

/**
 * Returns the request with half of the history that was sent, or what the named limit leaves if that is less. Null when
 * nothing can be left out, or when it is the answer that is too much beside what always stays.
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
