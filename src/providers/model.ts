/**
 * The Model port: picks the adapter, retries, watches for silence, calls the next model (contract section 13), reports
 * failures with the contract's codes.
 */
import type { Model, ModelEvent, ModelFailure, ProviderConnection, Take } from '../actors/ports/index.ts'
import { pause } from '../async/pause.ts'
import { type AnthropicMemory, streamAnthropic } from './anthropic/anthropic.ts'
import { type ConnectionTest, testConnection } from './connection-test.ts'
import { type StreamOne, withinContext } from './context/within-context.ts'
import { goingOn, type RefusedBeginnings } from './continuation/going-on.ts'
import { playDemo } from './demo.ts'
import { withFallbacks } from './fallbacks.ts'
import { streamGemini } from './gemini/gemini.ts'
import { chatBody, createOpenAi } from './openai/chat.ts'
import { commonDialect, endpointOf, requireDialect } from './provider-types.ts'
import type { ProviderFetch } from './request/fetch.ts'
import { isRefusal } from './request/optional-fields.ts'
import { sendingParts, shownBody } from './request/outgoing-parts.ts'
import { createTokenCounter, type TokenCounter } from './tokens/token-count.ts'
import { failureOf, ProviderProblem, problemIn } from './wire/failure.ts'
import { createRemembered } from './wire/remembered.ts'
import { watchSilence } from './wire/silence.ts'
import { isOutput } from './wire/turn-stream.ts'
import { watchUsageReports } from './wire/usage-reports.ts'

export interface ModelOptions {
  /** The number of retries of a call that failed before the model sent anything. */
  providerRetries: number
  /** The longest silence between two events, the wait for the first included. Milliseconds. */
  idleTimeoutMs: number
  /**
   * The function that makes the calls: the outbound guard. It obeys `init.signal` and has no time limits of its own.
   */
  fetch: ProviderFetch
  /** The counter of tokens, which is disposed with the port. One of its own by default. */
  counter?: TokenCounter
  /** The wait before the first retry, doubled with each; milliseconds. Default 500. */
  backOffMs?: number
  /** Loads what `fetch` needs; awaited before a call, so that the wait is not the provider's silence. */
  loadFetch?: () => Promise<void>
}

/** The model port. Must be disposed: tokens are counted in a thread. */
export interface Providers extends Model, AsyncDisposable {
  /** Tests a provider. Never rejects: an error is the answer (contract section 2). */
  testProvider(connection: ProviderConnection, options?: { timeoutMs?: number }): Promise<ConnectionTest>
  /** Loads what the first call of a provider of one of these types needs. */
  load(types: readonly string[]): Promise<void>
}

/**
 * The longest wait that a provider may request. After a longer one the call is not tried again (contract section 1).
 */
const longestWaitMs = 10_000

export function createModel(options: ModelOptions): Providers {
  const { fetch, idleTimeoutMs, counter = createTokenCounter() } = options
  const watchTurn = watchUsageReports(counter.expect)
  const openai = createOpenAi(fetch)
  const prepare = async (type: string) => (type === 'demo' ? undefined : await options.loadFetch?.())
  const memory: AnthropicMemory = { refusals: createRemembered(), longestAnswers: createRemembered() }
  const beginnings: RefusedBeginnings = createRemembered()

  const callModel: Model['stream'] = (request, signal, take) => {
    const { type } = request.provider
    if (type === 'demo') {
      counter.expect() // it reports no usage
      request.calls?.({ type: 'sent', request, body: shownBody(request, chatBody(request, commonDialect)) })
      return playDemo(request, signal, take)
    }
    return sendingParts(request, () => {
      if (type === 'anthropic') return streamAnthropic(request, signal, fetch, memory, take)
      if (type === 'gemini') return streamGemini(request, signal, fetch, memory.refusals, take)
      return openai.stream(request, requireDialect(type), signal, take)
    })
  }

  /** Streams a turn of one model, its retries included. Returns null when it took place, or `signal` aborted. */
  const streamOne: StreamOne = async (request, signal, take) => {
    const { provider, model, calls } = request
    await prepare(provider.type)
    const secrets = provider.apiKey ? [provider.apiKey.trim()] : []
    const url = provider.type === 'demo' ? null : endpointOf(provider)
    const watchUsage = watchTurn(request)
    let sent = false
    let spoke = false
    const receive: Take<ModelEvent> = (events) => {
      // After the first output the call is never made again (contract section 10).
      sent ||= events.some(isOutput)
      if (!spoke && events.some(isToken)) {
        spoke = true
        calls?.({ type: 'first_token' })
      }
      watchUsage(events)
      return take(events)
    }
    for (let attempt = 0; !signal.aborted; attempt++) {
      calls?.({ type: 'called', url, providerId: provider.id, providerType: provider.type, model, idleTimeoutMs })
      try {
        await watched(
          (own, taker) => goingOn(request, beginnings, taker, (asked, taken) => callModel(asked, own, taken)),
          signal,
          idleTimeoutMs,
          receive,
        )
        calls?.({ type: 'call_ended', outcome: signal.aborted ? 'stopped' : 'ok', status: null })
        return null
      } catch (error) {
        const problem = signal.aborted ? null : problemIn(error)
        if (problem === null)
          calls?.({ type: 'call_ended', outcome: signal.aborted ? 'stopped' : 'internal', status: null })
        if (signal.aborted) return null
        if (problem === null) throw error
        const failure = failureOf(problem, secrets)
        const { code, detail } = failure
        calls?.({ type: 'call_ended', outcome: code, status: problem.status })
        const left = sent ? 0 : options.providerRetries - attempt
        const waitMs = left > 0 ? waitBeforeRetry(problem, attempt, options.backOffMs ?? 500) : null
        if (waitMs === null) {
          return { failure, ...(sent ? afterOutput : beforeOutput(problem, code)) }
        }
        calls?.({ type: 'retried', attempt: attempt + 1, of: options.providerRetries + 1, waitMs, code, detail })
        await pause(waitMs, signal)
      }
    }
    return null
  }

  return {
    stream: withFallbacks(withinContext(streamOne, createRemembered())),
    countTokens: counter.count,
    load: async (types) => void (await Promise.all(types.map(prepare))),
    testProvider: (connection, { timeoutMs = 10_000 } = {}) => testConnection(connection, fetch, timeoutMs),
    [Symbol.asyncDispose]: () => counter[Symbol.asyncDispose](),
  }
}

const isToken = ({ type }: ModelEvent): boolean => type === 'text' || type === 'reasoning'

const afterOutput = { overflow: null, refused: null, maySucceedElsewhere: false }

const beforeOutput = (problem: ProviderProblem, code: ModelFailure['code']) => ({
  overflow: problem.overflow,
  refused: isRefusal(problem) ? problem.full : null,
  maySucceedElsewhere: isOfThisProvider(problem, code),
})

/**
 * Returns whether another provider may succeed: after a retryable error, a time-out, a refused key or an input that is
 * too long (contract section 13).
 */
const isOfThisProvider = (problem: ProviderProblem, code: ModelFailure['code']): boolean =>
  problem.transient || ['provider_timeout', 'provider_auth', 'context_length_exceeded'].includes(code)

/** Runs one attempt, until it ends, fails, is aborted or falls silent. */
async function watched(
  call: (signal: AbortSignal, take: Take<ModelEvent>) => Promise<void>,
  signal: AbortSignal,
  idleMs: number,
  take: Take<ModelEvent>,
): Promise<void> {
  using watch = watchSilence(signal, idleMs)
  let ended = false
  const receive: Take<ModelEvent> = (events) => {
    if (watch.signal.aborted) return undefined
    watch.received()
    ended ||= events.at(-1)?.type === 'end'
    const taken = take(events)
    if (taken) return taken.then(watch.waiting)
    watch.waiting()
    return undefined
  }
  try {
    watch.waiting()
    await call(watch.signal, receive)
    // An adapter may stop on abort without an error; that silence was the cause must still be reported.
    if (watch.expired() && !ended) throw silent(idleMs)
  } catch (error) {
    throw watch.expired() ? silent(idleMs) : error
  }
}

const silent = (idleMs: number) =>
  new ProviderProblem({ kind: 'silent', reason: `no event within ${Math.round(idleMs / 1000)} s` })

/**
 * Returns the wait before the next attempt: the wait that the provider requested, or an exponential one, a quarter of
 * it random so that instances that failed together do not come back together. Null when there is no further attempt.
 */
function waitBeforeRetry(problem: ProviderProblem, attempt: number, firstMs: number): number | null {
  if (!problem.transient) return null
  if (problem.retryAfterMs !== null) return problem.retryAfterMs <= longestWaitMs ? problem.retryAfterMs : null
  return Math.min(firstMs * 2 ** attempt, longestWaitMs) * (1 - 0.25 * Math.random())
}
