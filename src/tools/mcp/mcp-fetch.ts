/** The fetch of the SDK's transports: guarded like every outbound call, bounded in size, and watched for its end. */
import { setImmediate } from 'node:timers/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import { createByteBounds } from '../../untrusted/json/json-bounds.ts'
import { BREAK_BYTES, PIECE_BYTES } from '../../untrusted/pieces.ts'
import { challengeWords } from '../outbound/challenge.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { createStage } from '../outbound/stage.ts'
import { type AskedId, mendMessage } from './mcp-answers.ts'
import { mendEvents } from './mcp-event-mending.ts'
import { numberInHeader, numbersInJson, parseMessage } from './mcp-numbers.ts'

/** The limit of one response or event, decompressed. A model reads at most 256 KiB of a result; images come on top. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** The time-out of a POST of the old transport. It is only acknowledged: its result comes on the event stream. */
const ACKNOWLEDGE_MS = 15_000

/** The limits of one message: 500 tools with 80 values each. The SDK checks every value, 0.1 s for these. */
const MESSAGE_BOUNDS = { values: 40_000, depth: 200 }
/** The most messages read in one go: the SDK reads all there are, and answers each ping with a call. */
const MAX_EVENTS = 20

const NULL_BODY = new Set([204, 205, 304])
const LF = 10
const CR = 13
/** The first letter of a `data:` line. */
const DATA = 100

export class McpStatusError extends Error {
  override name = 'McpStatusError'
  readonly status: number
  /** The response's text, as far as it was read. */
  readonly text: string
  constructor(status: number, text: string) {
    super(`HTTP ${status}`)
    this.status = status
    this.text = text
  }
}

/** The state of a transport's calls beyond the protocol. */
export interface FetchWatch {
  /** The error of the last call without a response, since the old transport's errors have no cause. */
  failure: unknown
  /** The newest answer of 401 or 403, with its `WWW-Authenticate`. */
  refusal?: { status: number; header: string }
  /** Reports that an event stream requested with GET is open. */
  onEventsOpen(): void
  /** Reports that the event stream requested with GET has ended, and so have the POSTs of that time. */
  onEventsEnd(): void
}

/**
 * Creates the fetch of a transport. `acknowledged`: the old transport. Its POSTs have no content (statuses other than
 * 2xx and 3xx reject), and it has one event stream: the SDK would request another one when that ends, but the server
 * would not know the session.
 */
export function mcpFetch(outbound: Outbound, watch: FetchWatch, acknowledged: boolean): FetchLike {
  let posts = 0
  let isOver = false
  const settle = () => {
    // Deferred: a refused POST must be reported as refused before its session is reported as ended.
    if (!isOver || posts > 0) return
    void setImmediate().then(() => {
      if (posts === 0) watch.onEventsEnd()
    })
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
        throw new McpStatusError(response.status, await beginningOf(response.body))
      }
      return answer(
        response,
        () => {},
        () => Object(JSON.parse(String(init.body))).id,
      )
    } finally {
      posts -= 1
      settle()
    }
  }
}

const MAX_CHALLENGE = 4_000
/** The longest message of a refusal. */
const MAX_REFUSAL_BYTES = 64 * 1024

/** Returns the message of a refusal. Empty when it breaks off. */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of body ?? []) {
      pieces.push(piece)
      length += piece.length
      if (length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    return ''
  }
  return Buffer.concat(pieces).toString()
}

type Answer = Pick<Awaited<ReturnType<Outbound['fetch']>>, 'ok' | 'status' | 'statusText' | 'headers' | 'body'>

/** Puts the words of `WWW-Authenticate` in the place of an empty body. */
async function withChallenge(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering
  const words = challengeWords(answer.status, answer.headers)
  if (words === '') return answer
  const { ok, status, statusText, headers } = answer
  return { ok, status, statusText, headers, body: new Blob([(await beginningOf(answer.body)) || words]).stream() }
}

function ask(
  outbound: Outbound,
  watch: FetchWatch,
  url: string | URL,
  { method = 'GET', headers, body, signal }: RequestInit,
  limits: AbortSignal[] = [],
): Promise<Answer> {
  const asked = withChallenge(
    outbound.fetch(url, {
      chosenBy: 'admin',
      method,
      headers: Object.fromEntries(
        Array.from(new Headers(headers ?? {}), ([name, value]) => [name, numberInHeader(value)]),
      ),
      body: typeof body === 'string' ? numbersInJson(body) : null,
      plainHeaders: { 'user-agent': 'Greenroom' },
      signal: AbortSignal.any(signal ? [signal, ...limits] : limits),
    }),
  )
  asked.then(
    ({ status, headers: answered }) => {
      if (status !== 401 && status !== 403) return
      watch.refusal = { status, header: answered.get('www-authenticate')?.slice(0, MAX_CHALLENGE) ?? '' }
    },
    (error: unknown) => {
      watch.failure = error
    },
  )
  return asked
}

/** Creates the bounded response for the SDK. `onEventsEnd`: its events ended, other than by the reader's cancel. */
function answer({ status, statusText, headers, body }: Answer, onEventsEnd: () => void, asked?: AskedId): Response {
  const isEvents = headers.get('content-type')?.includes('text/event-stream') === true
  const watched =
    body === null || NULL_BODY.has(status)
      ? null
      : watchBody(body, isEvents ? limitEvents() : limitBytes(), isEvents ? onEventsEnd : () => {})
  // The SDK refuses a whole message because of a null in it.
  const read = watched === null ? null : isEvents ? mendEvents(watched, asked) : inStages(watched)
  const response = new Response(read, { status, statusText, headers: [...headers] })
  const json = async () => mendMessage(parseMessage(await response.text()), asked)
  return Object.defineProperty(response, 'json', { value: json })
}

/** Bounds a body that is read as a whole. */
function inStages(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const stage = createStage()
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes) => stage.add(bytes),
      flush(controller) {
        for (const piece of stage.pieces()) controller.enqueue(piece)
      },
    }),
  )
}

/**
 * Wraps a body. `check` returns how many of these bytes may be read in one go, and throws to end the body with that
 * error. `onEnd` is called for every end except the reader's cancel.
 */
function watchBody(
  body: ReadableStream<Uint8Array>,
  check: (bytes: Uint8Array) => number,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let rest: Uint8Array = new Uint8Array()
  let sinceBreak = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        if (rest.length > 0 || sinceBreak > BREAK_BYTES) {
          await setImmediate()
          sinceBreak = 0
        }
        if (rest.length === 0) {
          const { done, value } = await reader.read()
          if (done) {
            controller.close()
            return onEnd()
          }
          rest = value
        }
        const length = check(rest)
        controller.enqueue(rest.subarray(0, length))
        rest = rest.subarray(length)
        sinceBreak += length
      } catch (error) {
        reader.cancel().catch(() => {}) // it has ended, or ends here
        controller.error(error)
        onEnd()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

const tooLarge = () => new Error(`An answer is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB.`)
const tooMany = () => new Error(`An answer holds more than ${MESSAGE_BOUNDS.values} values.`)

function limitBytes(): (bytes: Uint8Array) => number {
  const bounds = createByteBounds(MESSAGE_BOUNDS)
  let length = 0
  return (bytes) => {
    length += bytes.length
    if (length > MAX_MESSAGE_BYTES) throw tooLarge()
    for (const byte of bytes) if (!bounds.add(byte)) throw tooMany()
    return bytes.length
  }
}

/** Bounds the data from one event to the next: the stream itself is not limited. */
function limitEvents(): (bytes: Uint8Array) => number {
  const bounds = createByteBounds(MESSAGE_BOUNDS)
  let length = 0
  let previous = 0
  let lineIsEmpty = true
  let hasData = false
  return (bytes) => {
    const portion = Math.min(bytes.length, PIECE_BYTES)
    let events = 0
    let at = 0
    for (; at < portion && events < MAX_EVENTS; at += 1) {
      const byte = bytes[at] ?? 0
      length += 1
      if (!bounds.add(byte)) throw tooMany()
      if (byte === LF && previous === CR) {
        // second half of the same line break
      } else if (byte === LF || byte === CR) {
        if (lineIsEmpty && hasData) {
          bounds.reset()
          length = 0
          events += 1
          hasData = false
        }
        lineIsEmpty = true
      } else {
        if (lineIsEmpty && byte === DATA) hasData = true
        lineIsEmpty = false
      }
      previous = byte
    }
    if (length > MAX_MESSAGE_BYTES) throw tooLarge()
    return at
  }
}
