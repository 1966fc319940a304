/** One turn of any vendor as a pulled stream of events: bytes → SSE events → `Turn`. Throws ProviderProblem. */
import { createParser } from 'eventsource-parser'
import type { ModelEvent } from '../actors/ports.ts'
import { connectionProblem, ProviderProblem } from './failure.ts'
import type { FetchResponse } from './fetch.ts'
import { malformed, type Turn } from './turn.ts'

/** One SSE event, or one answer without streaming, may be this long. */
const maxEventLength = 8 * 1024 * 1024

/** Google may break off with an error that is bare JSON, no event: of such lines so many characters are kept. */
const maxStray = 64 * 1024

/** `open` makes the call; its signal aborts when the caller's does, and when nobody reads any more. */
export async function* streamTurn(
  turn: Turn,
  open: (signal: AbortSignal) => Promise<Pick<FetchResponse, 'body'>>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const own = new AbortController()
  const stop = () => own.abort()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let left = true
  try {
    const response = await open(own.signal)
    if (!response.body) throw new ProviderProblem({ kind: 'ended_early' })
    const reader = response.body.getReader()
    // A body that does not know our signal (a fetch put in between) must not keep us waiting either.
    own.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
    yield* eventsOf(turn, reader)
    left = false
    if (turn.done) void drain(reader, own)
    else own.abort()
    yield* turn.close()
  } finally {
    signal.removeEventListener('abort', stop)
    if (left) own.abort() // closes the socket
  }
}

/** Events as they are read: nothing is read ahead of the consumer but what one network chunk holds. */
async function* eventsOf(turn: Turn, reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<ModelEvent> {
  const decoder = new TextDecoder()
  const feed = sniff(turn)
  let ended = false
  while (!ended && !turn.done) {
    let fault: unknown = null
    try {
      const { done, value } = await read(reader)
      ended = done
      feed(done ? decoder.decode() : decoder.decode(value, { stream: true }), done)
    } catch (error) {
      fault = error
    }
    // What came before the fault was said all the same.
    for (const event of turn.events) yield event
    turn.events.length = 0
    if (turn.problem) throw turn.problem
    if (fault && turn.finished) return // only the goodbye is missing
    if (fault) throw fault
  }
  if (!turn.finished) throw new ProviderProblem({ kind: 'ended_early' })
}

const read = (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  reader.read().catch((error: unknown) => {
    throw connectionProblem(error)
  })

/** Tells a stream from an answer without streaming by its first character, since content types are often wrong. */
function sniff(turn: Turn): (text: string, last: boolean) => void {
  let head: string | null = ''
  let closing = false
  let stray = ''
  const tooLong = () => {
    throw malformed(`more than ${maxEventLength} characters without an end`)
  }
  const parser = createParser({
    // Half an event at the end is a stream that ended early, not one that makes no sense.
    onEvent: ({ data, event }) => {
      if (!closing || isWhole(data)) turn.take(data, event)
    },
    onComment: () => turn.alive(),
    onError: ({ type, line }) => {
      if (type === 'max-buffer-size-exceeded') tooLong()
      if (stray.length < maxStray) stray += line ?? ''
    },
    maxBufferSize: maxEventLength,
  })
  return (text, last) => {
    closing = last
    if (head === null) {
      parser.feed(last ? `${text}\n\n` : text)
      if (last && !turn.finished && stray !== '' && isWhole(stray)) turn.take(stray)
      return
    }
    head += text
    const first = head.trimStart()[0]
    if (first === '<') throw malformed(`markup instead of a stream; the base URL may be wrong: ${head}`)
    if (first === '{' || first === '[') {
      if (head.length > maxEventLength) tooLong()
      if (last) turn.take(head)
    } else if (first !== undefined) {
      parser.feed(head)
      head = null
    }
  }
}

function isWhole(data: string): boolean {
  if (data.trim() === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

/**
 * Reads the few bytes after `[DONE]`, so that the connection can be used again; a second and 64 KiB at most. The
 * reply does not wait for it.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, call: AbortController): Promise<void> {
  const timer = setTimeout(() => call.abort(), 1000)
  try {
    for (let bytes = 0; bytes < 64 * 1024; ) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.length
    }
  } catch {
    // broken after the end: nothing is lost
  } finally {
    clearTimeout(timer)
    call.abort()
  }
}
