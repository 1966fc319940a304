/** The chat-completions adapter: one turn as a pulled stream of events. Throws ProviderProblem. */
import { createParser } from 'eventsource-parser'
import OpenAI from 'openai'
import type { ModelEvent, ModelRequest, ProviderConnection } from '../actors/ports.ts'
import { connectionProblem, ProviderProblem, problemIn } from './failure.ts'
import type { FetchResponse, ProviderFetch } from './fetch.ts'
import { type ChatBody, chatBody } from './openai-body.ts'
import { type Dialect, endpointOf } from './provider-types.ts'
import { problemOfAnswer } from './provider-words.ts'
import { malformed, readTurn, type Turn } from './turn.ts'

/** One SSE event, or one answer without streaming, may be this long. */
const maxEventLength = 8 * 1024 * 1024

/**
 * Servers that refused `stream_options`, by endpoint: asked once, then spared until the process ends. The count of
 * providers bounds it.
 */
export type UsageRefusals = Set<string>

export async function* streamOpenAi(
  request: ModelRequest,
  dialect: Dialect,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: UsageRefusals,
): AsyncGenerator<ModelEvent> {
  const own = new AbortController()
  const stop = () => own.abort()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let left = true
  try {
    const response = await open(request, dialect, own.signal, fetch, refusals)
    if (!response.body) throw new ProviderProblem({ kind: 'ended_early' })
    const reader = response.body.getReader()
    // A body that does not know our signal (a fetch put in between) must not keep us waiting either.
    own.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
    const turn = readTurn()
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

/** A client of the official SDK that takes nothing from the environment and tries once. */
export function openAiClient(connection: ProviderConnection, fetch: ProviderFetch): OpenAI {
  const baseURL = endpointOf(connection)
  if (baseURL === null) throw new ProviderProblem({ kind: 'unusable', said: 'The provider has no usable base URL.' })
  const key = connection.apiKey?.trim() ?? ''
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new ProviderProblem({ kind: 'unusable', said: 'The stored API key has characters that no key can have.' })
  }
  return new OpenAI({
    baseURL,
    apiKey: key || 'none', // the SDK insists on one; `guardedFetch` sends only what is there
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1, // the idle time-out is the model's
    logLevel: 'off',
    fetch: guardedFetch(key, fetch),
  })
}

/**
 * The headers are made here, whole: the SDK would add those of OPENAI_CUSTOM_HEADERS. An answer that is not 2xx is
 * read here too, since the SDK would read it without a bound.
 */
function guardedFetch(key: string, fetch: ProviderFetch) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    const method = init.method ?? 'GET'
    const body = typeof init.body === 'string' ? init.body : null
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'user-agent': 'greenroom',
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      ...(body !== null && { body }),
      signal: init.signal ?? new AbortController().signal,
      redirect: 'manual',
    }).catch((error: unknown) => {
      throw connectionProblem(error)
    })
    if (!response.ok) throw await problemOfAnswer(response, method, url)
    return response instanceof Response ? response : new Response(response.body, response)
  }
}

/** The answer's head. Asks a second time where the server knows no `stream_options`. */
async function open(
  request: ModelRequest,
  dialect: Dialect,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: UsageRefusals,
): Promise<FetchResponse> {
  const client = openAiClient(request.provider, fetch)
  const ask = async (body: ChatBody) => {
    try {
      return await client.chat.completions.create(body, { signal }).asResponse()
    } catch (error) {
      throw problemIn(error) ?? error
    }
  }
  const body = chatBody(request, dialect)
  if (!body.stream_options) return ask(body)
  const { stream_options: _, ...plain } = body
  if (refusals.has(client.baseURL)) return ask(plain)
  try {
    return await ask(body)
  } catch (error) {
    if (!(error instanceof ProviderProblem) || !refusesUsage(error)) throw error
    const response = await ask(plain)
    refusals.add(client.baseURL)
    return response
  }
}

const refusesUsage = ({ status, full }: ProviderProblem): boolean =>
  (status === 400 || status === 422) && /stream_options|include_usage/.test(full)

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
  const tooLong = () => {
    throw malformed(`more than ${maxEventLength} characters without an end`)
  }
  const parser = createParser({
    // Half an event at the end is a stream that ended early, not one that makes no sense.
    onEvent: ({ data, event }) => {
      if (!closing || isWhole(data)) turn.take(data, event)
    },
    onComment: () => turn.alive(),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') tooLong()
    },
    maxBufferSize: maxEventLength,
  })
  return (text, last) => {
    closing = last
    if (head === null) return parser.feed(last ? `${text}\n\n` : text)
    head += text
    const first = head.trimStart()[0]
    if (first === '<') throw malformed(`markup instead of a stream; the base URL may be wrong: ${head}`)
    if (first === '{' || first === '[') {
      if (head.length > maxEventLength) tooLong()
      if (last) takeWhole(turn, head)
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

function takeWhole(turn: Turn, json: string): void {
  turn.take(json)
  if (!turn.problem && turn.finished) turn.take('[DONE]')
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
