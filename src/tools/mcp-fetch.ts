/** The SDK's transports speak through here: guarded like every call out, bounded in size, and watched for its end. */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Outbound } from './outbound.ts'

/** Of one answer or one event, decompressed. A result that a model may read whole is 256 KiB; images come beside it. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** A POST of the old transport is only an acknowledgement: the answer comes on the event stream. */
const ACKNOWLEDGE_MS = 15_000

const NULL_BODY = new Set([204, 205, 304])
const LF = 10
const CR = 13

export class McpStatusError extends Error {
  override name = 'McpStatusError'
  readonly status: number
  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** What a transport's calls tell beyond the protocol. */
export interface FetchWatch {
  /** The last call that got no answer at all, for the old transport's errors have no cause. */
  failure: unknown
  /** A stream of events that was asked for with GET is open. */
  onEventsOpen(): void
  /** The stream of events that was asked for with GET is over, and so are the POSTs of that time. */
  onEventsEnd(): void
}

/**
 * `acknowledged`: the old transport. Its POSTs answer without content (other answers than 2xx reject), and it has one
 * stream of events: the SDK would ask for another one when that ends, but nobody there would know the session.
 */
export function mcpFetch(outbound: Outbound, watch: FetchWatch, acknowledged: boolean): FetchLike {
  let posts = 0
  let isOver = false
  const settle = () => {
    // Not at once: a POST that was refused is to be known as that before its session is said to be over.
    if (isOver && posts === 0) setImmediate(() => watch.onEventsEnd())
  }
  const end = () => {
    isOver = true
    settle()
  }
  return async (url, init = {}) => {
    if (init.method !== 'POST') {
      if (acknowledged && isOver) throw new Error('The stream of events is over.')
      const response = await ask(outbound, watch, url, init)
      if (init.method === 'DELETE') return answer(response, () => {})
      if (response.ok) watch.onEventsOpen()
      return answer(response, end)
    }
    posts += 1
    try {
      const limit = acknowledged ? [AbortSignal.timeout(ACKNOWLEDGE_MS)] : []
      const response = await ask(outbound, watch, url, init, limit)
      if (acknowledged && (response.status < 200 || response.status > 399)) {
        response.body?.cancel().catch(() => {}) // only the status counts
        throw new McpStatusError(response.status)
      }
      return answer(response, () => {})
    } finally {
      posts -= 1
      settle()
    }
  }
}

type Answer = Awaited<ReturnType<Outbound['fetch']>>

function ask(
  outbound: Outbound,
  watch: FetchWatch,
  url: string | URL,
  { method = 'GET', headers, body, signal }: RequestInit,
  limits: AbortSignal[] = [],
): Promise<Answer> {
  const asked = outbound.fetch(url, {
    chosenBy: 'admin',
    method,
    headers: Object.fromEntries(new Headers(headers ?? {})),
    body: typeof body === 'string' ? body : null,
    plainHeaders: { 'user-agent': 'Greenroom' },
    signal: AbortSignal.any(signal ? [signal, ...limits] : limits),
  })
  asked.catch((error: unknown) => {
    watch.failure = error
  })
  return asked
}

/** The answer as the SDK takes it, bounded. `onEventsEnd`: its events are over, not by the reader's own will. */
function answer({ status, statusText, headers, body }: Answer, onEventsEnd: () => void): Response {
  const isEvents = headers.get('content-type')?.includes('text/event-stream') === true
  const watched =
    body === null || NULL_BODY.has(status)
      ? null
      : watchBody(body, isEvents ? limitEvents() : limitBytes(), isEvents ? onEventsEnd : () => {})
  return new Response(watched, { status, statusText, headers: [...headers] })
}

/** `check` throws to end the body with that error. `onEnd` is told of every end but the reader's own. */
function watchBody(
  body: ReadableStream<Uint8Array>,
  check: (chunk: Uint8Array) => void,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (value !== undefined) check(value)
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        reader.cancel().catch(() => {}) // it is over already, or ends here
        controller.error(error)
      }
      onEnd()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

const tooLarge = () => new Error(`An answer is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB.`)

function limitBytes(): (chunk: Uint8Array) => void {
  let bytes = 0
  return (chunk) => {
    bytes += chunk.length
    if (bytes > MAX_MESSAGE_BYTES) throw tooLarge()
  }
}

/** Counts from one blank line, the end of an event, to the next: a stream may be as long as it likes. */
function limitEvents(): (chunk: Uint8Array) => void {
  let bytes = 0
  let previous = 0
  let lineIsEmpty = false
  return (chunk) => {
    for (const byte of chunk) {
      bytes += 1
      if (byte === LF && previous === CR) bytes += 0
      else if (byte === LF || byte === CR) {
        if (lineIsEmpty) bytes = 0
        lineIsEmpty = true
      } else lineIsEmpty = false
      previous = byte
    }
    if (bytes > MAX_MESSAGE_BYTES) throw tooLarge()
  }
}
