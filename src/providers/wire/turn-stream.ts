/** A turn of any vendor as a stream of events: bytes → SSE events → `Turn`. Rejects with ProviderProblem. */
import { createParser } from 'eventsource-parser'
import type { ModelEvent, Take } from '../../actors/ports/index.ts'
import { inPieces } from '../../untrusted/pieces.ts'
import type { ProviderAnswer } from '../request/fetch.ts'
import { beyondLimit, connectionProblem, malformed, ProviderProblem } from './failure.ts'
import { problemOfWords } from './provider-errors.ts'
import { parse } from './provider-json.ts'
import { parseEvent, type Repeated } from './repeated.ts'

/** The reader of one vendor's turn. */
export interface Turn {
  /** The events since the caller last emptied the list. */
  readonly events: ModelEvent[]
  /** Returns the first problem. `events` holds what came before it. Nothing is read after it. */
  problem(): ProviderProblem | null
  /** Returns whether `[DONE]` was read. Nothing follows it. */
  done(): boolean
  /** Returns whether the model has finished, with or without `[DONE]`. */
  finished(): boolean
  /** Reads one SSE event's data. */
  take(data: string, eventName?: string): void
  /** Notes activity without content. */
  alive(): void
  /** Returns the tool calls, then the end. */
  close(): ModelEvent[]
}

/**
 * The longest SSE event, response without streaming, or run of blank lines and comments between two events: 300 KB of
 * gzip hold 300 MB of blanks.
 */
const MAX_EVENT_LENGTH = 2 * 1024 * 1024

/**
 * The most characters kept of lines outside events. Google may break off with an error that is bare JSON, others send
 * plain text.
 */
const MAX_UNFRAMED = 64 * 1024

/** A shared error: building a DOMException with its stack costs 40 µs. */
const callOver = new DOMException('The call is over.', 'AbortError')

/**
 * The wait for usage and `[DONE]` after a finish reason, whatever the socket does. Some servers give a finish reason
 * with each chunk, or usage between two chunks: further output restarts the wait. Milliseconds.
 */
const MAX_TRAILER_MS = 2000

/** The most bytes after `[DONE]` that are read, so that the connection can be used again, and the time for it. */
const MAX_DRAINED = 64 * 1024
const MAX_DRAIN_MS = 1000

/**
 * Streams a turn. `open` makes the call; its signal aborts when the caller's does, and when the response is no longer
 * read. `repeated`: parts of the request that events repeat, which may make one longer. Absent where they repeat
 * nothing.
 */
export async function streamTurn(
  turn: Turn,
  open: (signal: AbortSignal) => Promise<ProviderAnswer>,
  signal: AbortSignal,
  take: Take<ModelEvent>,
  repeated?: Repeated,
): Promise<void> {
  const call = new AbortController()
  const stop = () => call.abort(callOver)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let left = true
  try {
    const answer = await open(call.signal)
    const { over, whole } = readTurnFrom(turn, answer, call, take, repeated)
    await over
    left = false
    // The reply does not wait for the last bytes of `[DONE]`.
    if (turn.done()) drain(whole, call)
    else call.abort(callOver)
    await take(turn.close())
  } finally {
    signal.removeEventListener('abort', stop)
    if (left) call.abort(callOver) // closes the socket
  }
}

/**
 * Reads an answer into `turn` and passes its events on, piece by piece. `over` resolves when the model has finished or
 * the call is stopped, and rejects with an earlier fault. `whole` resolves when nothing more is read.
 */
function readTurnFrom(
  turn: Turn,
  answer: ProviderAnswer,
  call: AbortController,
  take: Take<ModelEvent>,
  repeated: Repeated | undefined,
) {
  const decoder = new TextDecoder()
  const isTooLong = (length: number): boolean =>
    length > MAX_EVENT_LENGTH && length > MAX_EVENT_LENGTH + (repeated?.length() ?? 0)
  const feed = sniff(turn, isTooLong, repeated)
  const stopped = Promise.withResolvers<void>()
  const stop = () => stopped.resolve()
  let fault: unknown = null
  let taken: Promise<void> | undefined
  let drained = 0
  let trailerTimer: NodeJS.Timeout | undefined

  const read = (text: string, last: boolean) => {
    try {
      feed(text, last)
    } catch (error) {
      fault = error
    }
    const goesOn = turn.events.some(isOutput)
    try {
      // Events before a fault count all the same.
      taken = turn.events.length > 0 && !call.signal.aborted ? take(turn.events.splice(0)) : undefined
    } catch (error) {
      fault = error
    }
    if (turn.done() || turn.problem() || fault) stopped.resolve()
    else awaitGoodbye(goesOn)
    return taken
  }
  function awaitGoodbye(goesOn: boolean): void {
    if (goesOn || !turn.finished()) {
      clearTimeout(trailerTimer)
      trailerTimer = undefined
    }
    if (turn.finished()) trailerTimer ??= setTimeout(stopped.resolve, MAX_TRAILER_MS)
  }
  const receive = inPieces((bytes) => {
    if (!turn.done() && !turn.problem() && !fault) return read(decoder.decode(bytes, { stream: true }), false)
    drained += bytes.length
    if (drained > MAX_DRAINED) call.abort(callOver)
    return undefined
  })
  const whole = answer
    .read(receive)
    .then(
      () => {
        // `over` waits for it, and rejects with it.
        if (!turn.done() && !turn.problem() && !fault) void read(decoder.decode(), true)
      },
      (error: unknown) => {
        fault ??= connectionProblem(error)
      },
    )
    .finally(stopped.resolve)
  call.signal.addEventListener('abort', stop, { once: true })

  const over = async () => {
    await stopped.promise
    clearTimeout(trailerTimer)
    call.signal.removeEventListener('abort', stop)
    call.signal.throwIfAborted()
    await taken
    if (turn.problem()) throw turn.problem()
    if (turn.finished()) return // after it only `[DONE]` can be missing
    throw fault ?? new ProviderProblem({ kind: 'ended_early' })
  }
  return { over: over(), whole }
}

function drain(whole: Promise<void>, call: AbortController): void {
  const timer = setTimeout(() => call.abort(callOver), MAX_DRAIN_MS)
  void whole.then(() => clearTimeout(timer))
}

/**
 * Distinguishes a stream from a response without streaming by its first character, since content types are often wrong.
 */
function sniff(
  turn: Turn,
  isTooLong: (length: number) => boolean,
  repeated: Repeated | undefined,
): (text: string, last: boolean) => void {
  const events = readEvents(turn, isTooLong, repeated)
  let blanks = 0
  let kind: 'unknown' | 'events' | 'json' = 'unknown'
  let length = 0
  const pieces: string[] = []
  return (text, last) => {
    let more = text
    if (kind === 'unknown') {
      more = text.trimStart()
      blanks += text.length - more.length
      if (isTooLong(blanks)) throw tooLong()
      if (more === '') return
      if (more.startsWith('<')) throw malformed(`markup instead of a stream; the base URL may be wrong: ${more}`)
      kind = more.startsWith('{') || more.startsWith('[') ? 'json' : 'events'
    }
    if (kind === 'events') return events(more, last)
    pieces.push(more)
    length += more.length
    if (isTooLong(length)) throw tooLong()
    if (last) turn.take(pieces.join(''))
  }
}

const tooLong = () => beyondLimit(`more than ${MAX_EVENT_LENGTH} characters without an end`)

/** Reads SSE events into `turn`. */
function readEvents(
  turn: Turn,
  isTooLong: (length: number) => boolean,
  repeated: Repeated | undefined,
): (text: string, last: boolean) => void {
  let closing = false
  let unframed = ''
  let isStream = false
  let sinceEvent = 0
  const parser = createParser({
    // Half an event at the end means a stream that ended early, not one that makes no sense.
    onEvent: ({ data, event }) => {
      sinceEvent = 0
      isStream = true
      if (!closing || isWhole(data, repeated)) turn.take(data, event)
    },
    onComment: () => {
      isStream = true
      turn.alive()
    },
    onError: ({ line }) => {
      if (unframed.length < MAX_UNFRAMED) unframed += `${line ?? ''}\n`
    },
  })
  return (text, last) => {
    closing = last
    sinceEvent += text.length
    parser.feed(last ? `${text}\n\n` : text)
    // The parser's own limit would not see lines that are no events.
    if (isTooLong(sinceEvent)) throw tooLong()
    if (!last || turn.finished() || unframed === '') return
    if (!isStream && isWords(unframed)) throw problemOfWords(unframed)
    if (isWhole(unframed, repeated)) turn.take(unframed)
  }
}

/**
 * Returns whether this is plain text, and not the first field of a stream that broke off within its name or after an
 * unknown field.
 */
function isWords(text: string): boolean {
  const value = parse(text)
  if (value !== null) return typeof value === 'string'
  const trimmed = text.trim()
  if (/^(?!error)[a-z_-]+:.*$/.test(trimmed)) return false
  return !['data', 'event', 'id', 'retry'].some((field) => field.startsWith(trimmed))
}

const isWhole = (data: string, repeated: Repeated | undefined): boolean =>
  data.trim() === '[DONE]' || parseEvent(data, repeated) !== null

/** Returns whether the event is output of the model. */
export const isOutput = (event: ModelEvent): boolean =>
  event.type === 'text' ||
  event.type === 'reasoning' ||
  event.type === 'tool_call' ||
  (event.type === 'activity' && event.output === true)

/** Adds activity without text. Consecutive ones are merged. `output`: the model produced something (see ModelEvent). */
export function addActivity(events: ModelEvent[], output = false): void {
  const last = events.at(-1)
  if (last?.type !== 'activity') events.push(output ? { type: 'activity', output } : { type: 'activity' })
  else if (output) last.output = true
}
