/** A stream of server-sent events over as many connections as it takes. */
import { ApiError, ConnectionError, ReplyError } from '../errors.ts'
import { type ServerEvent, serverEvents } from './server-events.ts'

export interface Reconnect {
  /** Milliseconds; the pause after the first break is a random part of this, doubled with each further one. */
  firstWaitMs?: number
  longestWaitMs?: number
  /** Milliseconds from the first failure until it gives up, where nothing was received meanwhile. */
  giveUpAfterMs?: number
  /** Milliseconds in which a response must begin before the request is repeated; default: 45 s. */
  answerWithinMs?: number
  /** Instead of a timer: may resolve early when the network is back. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export interface FollowOptions {
  /** Asks for what is still missing. Null when there is nothing. Rejects with `ApiError` when it is refused. */
  connect(signal: AbortSignal): Promise<Response | null>
  isLast(event: ServerEvent): boolean
  /** Returns whether the request can be repeated safely after this failure; null: the stream ended early. */
  mayRepeat(failure: unknown): boolean
  /** `open`: connected. `lost`: the connection broke, and is being restored. */
  onConnection?: ((state: 'open' | 'lost') => void) | undefined
  signal?: AbortSignal | undefined
  reconnect?: Reconnect | undefined
}

/** The server sends a comment after 15 s of silence: when three are missed, the connection counts as lost. */
const silenceMs = 45_000

/**
 * Yields events until the last one. Leaving the loop closes the connection. Rejects with `ApiError` when the server
 * refuses for good, with `ConnectionError` when it gives up, and with the signal's reason when that aborts.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<ServerEvent, void> {
  const { signal, onConnection } = options
  const pauses = pausesOf(options)
  for (;;) {
    signal?.throwIfAborted()
    const watchdog = watchdogOf(signal, options.reconnect?.answerWithinMs)
    let failure: unknown = null
    try {
      const response = await options.connect(watchdog.signal)
      if (response === null) return
      watchdog.reset()
      onConnection?.('open')
      const onBytes = () => {
        watchdog.reset()
        pauses.reset()
      }
      for await (const event of serverEvents(response, onBytes)) {
        yield event
        if (options.isLast(event)) return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
      failure = error
    } finally {
      watchdog.close()
    }
    if (!options.mayRepeat(failure)) throw lostBy(failure)
    onConnection?.('lost')
    await pauses.next(failure)
  }
}

/**
 * Returns whether an error is final. A body that breaks off rejects with an error of the platform's choice, mostly a
 * TypeError: only our own are final.
 */
const isFinal = (error: unknown): boolean => (error instanceof ApiError ? !error.passes : error instanceof ReplyError)

const lostBy = (failure: unknown): unknown =>
  failure instanceof ApiError || failure instanceof ConnectionError
    ? failure
    : new ConnectionError('The connection to the server was lost.', { cause: failure })

function pausesOf({ reconnect = {}, signal }: FollowOptions) {
  const { firstWaitMs = 500, longestWaitMs = 10_000, giveUpAfterMs = 60_000, wait = pause } = reconnect
  // Counted from the first failure, not from the last byte: a slow reader, or a suspended one, does not give up at once.
  let failedAt = 0
  let failures = 0
  return {
    reset() {
      failures = 0
    },
    /** Rejects when it has taken too long. */
    async next(failure: unknown) {
      // Full jitter: thousands of clients that one server dropped do not come back together.
      const chosen = Math.random() * Math.min(firstWaitMs * 2 ** failures, longestWaitMs)
      const asked = failure instanceof ApiError ? (failure.retryAfterMs ?? 0) : 0
      const waitMs = Math.max(chosen, asked)
      if (failures === 0) failedAt = performance.now()
      failures += 1
      if (performance.now() + waitMs - failedAt > giveUpAfterMs) throw lostBy(failure)
      await wait(waitMs, signal)
    },
  }
}

/** Returns a signal that aborts with the outer one, and when nothing was received for 45 s. */
function watchdogOf(outer: AbortSignal | undefined, answerWithinMs = silenceMs) {
  const own = new AbortController()
  const leave = () => own.abort(outer?.reason)
  outer?.addEventListener('abort', leave)
  let timer: ReturnType<typeof setTimeout> | undefined
  const expect = (ms: number) => {
    clearTimeout(timer)
    if (ms === Number.POSITIVE_INFINITY) return
    timer = setTimeout(() => own.abort(new ConnectionError('The server has been silent for too long.')), ms)
  }
  expect(answerWithinMs)
  return {
    signal: own.signal,
    reset: () => expect(silenceMs),
    close() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', leave)
      own.abort()
    },
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}
