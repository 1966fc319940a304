/** One stream of server-sent events over as many connections as it takes. */
import { ApiError, ConnectionError, ReplyError } from './errors.ts'
import { type ServerEvent, serverEvents } from './server-events.ts'

export interface Reconnect {
  /** Milliseconds; the pause after the first break is a random part of this, doubled with each further one. */
  firstWaitMs?: number
  longestWaitMs?: number
  /** Milliseconds since the first failure, without a word from the server meanwhile: then it is given up. */
  giveUpAfterMs?: number
  /** Milliseconds in which an answer must begin, or it is asked for again; absent: 45 s. */
  answerWithinMs?: number
  /** Instead of a timer: may resolve early when the network is back. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export interface FollowOptions {
  /** Asks for what is still missing. Null: there is nothing. Rejects with `ApiError` when it is refused. */
  connect(signal: AbortSignal): Promise<Response | null>
  isLast(event: ServerEvent): boolean
  /** Whether asking again does no harm now. */
  mayRepeat(): boolean
  /** `open`: a connection stands. `lost`: it broke, and is tried again by itself. */
  onConnection?: ((state: 'open' | 'lost') => void) | undefined
  signal?: AbortSignal | undefined
  reconnect?: Reconnect | undefined
}

/** The server sends a comment after 15 s of silence: three missed ones, and nobody is there. */
const silenceMs = 45_000

/**
 * Events until the last one. Leaving the loop closes the connection. Rejects with `ApiError` when the server refuses
 * for good, with `ConnectionError` when it is given up, and with the signal's reason when that aborts.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<ServerEvent, void> {
  const { signal, onConnection } = options
  const pauses = pausesOf(options)
  for (;;) {
    signal?.throwIfAborted()
    const line = lineUntil(signal, options.reconnect?.answerWithinMs)
    let failure: unknown = null
    try {
      const response = await options.connect(line.signal)
      if (response === null) return
      line.heard()
      onConnection?.('open')
      const heard = () => {
        line.heard()
        pauses.heard()
      }
      for await (const event of serverEvents(response, heard)) {
        yield event
        if (options.isLast(event)) return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
      failure = error
    } finally {
      line.close()
    }
    if (!options.mayRepeat()) throw lostBy(failure)
    onConnection?.('lost')
    await pauses.next(failure)
  }
}

/** Bodies that break off reject with whatever the platform likes, mostly a TypeError: only our own errors are final. */
const isFinal = (error: unknown): boolean => (error instanceof ApiError ? !error.passes : error instanceof ReplyError)

const lostBy = (failure: unknown): unknown =>
  failure instanceof ApiError || failure instanceof ConnectionError
    ? failure
    : new ConnectionError('The connection to the server was lost.', { cause: failure })

function pausesOf({ reconnect = {}, signal }: FollowOptions) {
  const { firstWaitMs = 500, longestWaitMs = 10_000, giveUpAfterMs = 60_000, wait = pause } = reconnect
  // From the first failure on, not from the last word: whoever reads slowly, or sleeps, is not given up at once.
  let failedAt = 0
  let failures = 0
  return {
    heard() {
      failures = 0
    },
    /** Rejects when it has taken too long. */
    async next(failure: unknown) {
      // All of it is random: thousands that one server dropped do not come back together.
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

/** A signal that aborts with the outer one, and when nothing has been heard for 45 s. */
function lineUntil(outer: AbortSignal | undefined, answerWithinMs = silenceMs) {
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
    heard: () => expect(silenceMs),
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
