/**
 * Follows a reply over as many connections as it takes: server-sent events read with fetch, ids kept, and after a
 * break asked for again behind the last one. The browser's EventSource can neither POST nor tell a refusal.
 */
import { onlineManager } from '@tanstack/react-query'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ApiError, send, Unreachable } from '../api.ts'

const firstWaitMs = 300
const longestWaitMs = 5_000
/** The server sends a comment after 15 s of silence: three missed ones, and nobody is there. */
const silenceMs = 45_000

export interface FollowOptions {
  /** The request that starts the reply; null: it runs already. It is sent once, whatever happens. */
  start: Request | null
  /** Asks for what lies behind the frame of this number; 0: for everything. */
  resume: (lastId: number) => Request
  /** A connection stands: once at first, and after every break. */
  onOpen: (response: Response) => void
  onFrame: (frame: EventSourceMessage) => void
  /** The connection broke; it is tried again by itself. */
  onLost: () => void
  signal: AbortSignal
}

/** `done`: the last frame has come; `none`: the session has no reply; `gone`: there is no such session any more. */
export type Ending = 'done' | 'none' | 'gone'

/**
 * Resolves when the reply has ended. Rejects with `ApiError` or `Unreachable` when the first request is refused or is
 * not answered, with `ApiError` when a later one is refused for good, and when `signal` aborts.
 */
export async function followReply(options: FollowOptions): Promise<Ending> {
  let lastId = 0
  let { start } = options
  for (let failures = 0; ; failures++) {
    options.signal.throwIfAborted()
    const connection = connectionUntil(options.signal)
    try {
      const request = new Request(start ?? options.resume(lastId), { signal: connection.signal })
      const response = await send(request)
      if (response.status === 204) return 'none'
      if (response.status === 404 && start === null) return 'gone'
      if (!response.ok) throw new ApiError(response.status, await refusalOf(response))
      start = null
      options.onOpen(response)
      const ended = await readFrames(response, connection.stillThere, (frame) => {
        failures = 0
        if (frame.id !== undefined) lastId = Number(frame.id)
        options.onFrame(frame)
        return isLast(frame)
      })
      if (ended) return 'done'
    } catch (error) {
      options.signal.throwIfAborted()
      const passes = error instanceof ApiError ? error.status >= 500 : true
      if (start !== null || !passes) throw error
    } finally {
      connection.end()
    }
    options.onLost()
    await waitBefore(failures, options.signal)
  }
}

const isLast = ({ event, data }: EventSourceMessage): boolean =>
  event === undefined && (data === '[DONE]' || data.startsWith('{"error":'))

/** True: the last frame came. False: the connection ended before. */
async function readFrames(
  response: Response,
  stillThere: () => void,
  take: (frame: EventSourceMessage) => boolean,
): Promise<boolean> {
  if (response.body === null) return false
  let ended = false
  const parser = createParser({
    onEvent(frame) {
      ended = take(frame) || ended
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return ended
    stillThere()
    parser.feed(decoder.decode(value, { stream: true }))
    if (ended) return true
  }
}

/** A signal that aborts with the outer one, and when `stillThere` has not been called for 45 s. */
function connectionUntil(outer: AbortSignal) {
  const own = new AbortController()
  let timer = 0
  const stillThere = () => {
    clearTimeout(timer)
    timer = window.setTimeout(() => own.abort(new Unreachable('silence')), silenceMs)
  }
  return {
    signal: AbortSignal.any([outer, own.signal]),
    stillThere,
    end() {
      clearTimeout(timer)
      own.abort()
    },
  }
}

async function refusalOf(response: Response): Promise<string> {
  const { message } = Object(await response.json().catch(() => null))
  return typeof message === 'string' ? message : `The server answered with status ${response.status}.`
}

/** Longer each time, a little different in each window; ends early when the server is heard of again. */
async function waitBefore(failures: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const waitMs = Math.min(firstWaitMs * 1.7 ** failures, longestWaitMs) * (0.8 + Math.random() * 0.4)
  const timer = setTimeout(resolve, waitMs)
  const unsubscribe = onlineManager.subscribe((online) => online && resolve())
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
  unsubscribe()
}
