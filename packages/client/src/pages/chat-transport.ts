/**
 * A transport for the AI SDK's `useChat` (versions 6 and 7) on a server's sessions. It renews the page's client secret, and goes
 * on by itself with a reply whose connection broke: the hook sees one stream, in which nothing comes twice.
 */
import { ConnectionError, refusalOf } from '../errors.ts'
import { follow, type Reconnect } from '../wire/follow.ts'
import { createTransport, readAnswer, type TransportOptions } from '../wire/transport.ts'
import { type UiChunk, withoutRepeats } from './without-repeats.ts'

export interface ChatTransportOptions extends TransportOptions {
  /** The id of the agent. */
  agent: string
  reconnect?: Reconnect
}

/** The message of a chat that this transport looks at. The AI SDK's own types fit. */
interface UiMessage {
  id: string
  role: string
  metadata?: unknown
}

interface Asked {
  chatId: string
  headers?: Record<string, string> | Headers | undefined
  body?: object | undefined
}

interface Sent extends Asked {
  trigger: string
  messageId: string | undefined
  messages: readonly UiMessage[]
  abortSignal: AbortSignal | undefined
}

/** `Message`: the page's own type of messages, as `useChat` takes it; `Chunk`: the SDK's type of the parts of its streams. */
export interface ChatTransport<Message extends UiMessage, Chunk> {
  /** A flag for version 7: a stream that is asked for again begins at the message's beginning. */
  readonly resumeStreamIsReplay: true
  sendMessages(sent: Sent): Promise<ReadableStream<Chunk>>
  reconnectToStream(asked: Asked): Promise<ReadableStream<Chunk> | null>
  /**
   * Returns the messages to begin a page with, none for a new chat. A reply that still runs is left out: with
   * `resume: true` the hook gets it from its beginning. It also gets the error of a newest reply that failed, once.
   */
  load(chatId: string): Promise<Message[]>
  /** Ends the reply that runs, from any tab; its text so far is kept. */
  stop(chatId: string): Promise<void>
}

/** Sends nothing before the first call. Throws when `baseUrl` is no URL. */
export function chatTransport<Message extends UiMessage = never, Chunk = never>({
  agent,
  reconnect,
  ...options
}: ChatTransportOptions): ChatTransport<Message, Chunk> {
  const send = createTransport(options)
  const api = `/api/v1/agents/${encodeURIComponent(agent)}/deploy/ai-sdk`
  const pathOf = (chatId: string) => `${api}/${encodeURIComponent(chatId)}`
  /** The messages that were left out because their reply ran, by chat. */
  const unfinished = new Map<string, string>()
  /** The error of the newest reply, by chat, until a hook has it. */
  const failures = new Map<string, string>()
  /** The streams that pages asked for last. React's StrictMode asks twice: two streams would show all text twice. */
  const followed = new Map<string, AbortController>()

  return {
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, trigger, messageId, abortSignal, body, headers }) {
      unfinished.delete(chatId)
      failures.delete(chatId)
      const key = crypto.randomUUID()
      const request = {
        body: { ...body, id: chatId, messages, trigger, messageId },
        headers: { 'idempotency-key': key, ...plain(headers) },
      }
      const connect = (signal: AbortSignal) => send('POST', api, { ...request, signal })
      const stream = await streamOf<Chunk>({ connect, signal: abortSignal, reconnect })
      if (stream === null) throw new ConnectionError('The answer was empty.')
      return stream
    },
    async reconnectToStream({ chatId, headers }) {
      followed.get(chatId)?.abort()
      const own = new AbortController()
      followed.set(chatId, own)
      const held = unfinished.get(chatId)
      const query = held === undefined ? '' : `?message_id=${encodeURIComponent(held)}`
      const request = { headers: plain(headers) }
      const connect = (signal: AbortSignal) => send('GET', `${pathOf(chatId)}/stream${query}`, { ...request, signal })
      const stream = await streamOf<Chunk>({ connect, signal: own.signal, reconnect }).catch((error: unknown) => {
        if (own.signal.aborted) return null
        throw error
      })
      const errorText = failures.get(chatId)
      if (stream !== null || own.signal.aborted || errorText === undefined) return stream
      failures.delete(chatId)
      return errorStream(errorText)
    },
    async load(chatId) {
      const { messages } = (await readAnswer(await send('GET', `${pathOf(chatId)}/messages`))) as {
        messages: Message[]
      }
      const last = messages.at(-1)
      const { status, error } = Object(last?.metadata)
      if (typeof error?.message === 'string') failures.set(chatId, error.message)
      else failures.delete(chatId)
      if (last === undefined || last.role !== 'assistant' || status !== 'streaming') return messages
      unfinished.set(chatId, last.id)
      return messages.slice(0, -1)
    },
    async stop(chatId) {
      await readAnswer(await send('DELETE', `${pathOf(chatId)}/stream`))
    },
  }
}

interface Following {
  connect(signal: AbortSignal): Promise<Response>
  signal: AbortSignal | undefined
  reconnect: Reconnect | undefined
}

/** Returns a stream over as many connections as it takes. Null when the first answer is that there is none. */
async function streamOf<Chunk>({ signal, reconnect, ...asked }: Following): Promise<ReadableStream<Chunk> | null> {
  const events = follow({
    signal,
    reconnect,
    async connect(of) {
      const response = await asked.connect(of)
      if (!response.ok) throw await refusalOf(response)
      return response.status === 204 ? null : response
    },
    isLast: ({ data }) => data === '[DONE]',
    mayRepeat: () => true,
    onConnection: (state) => state === 'open' && repeats.begin(),
  })
  const repeats = withoutRepeats()
  const chunks = chunksOf(events, repeats)
  const first = await chunks.next() // before it, a refusal is the request's own
  if (first.done === true) return null
  return new ReadableStream<UiChunk>({
    start: (controller) => controller.enqueue(first.value),
    async pull(controller) {
      const next = await chunks.next().catch((error: unknown) => {
        if (signal?.aborted) return { done: true as const }
        throw error
      })
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: async () => void (await chunks.return()),
  }) as unknown as ReadableStream<Chunk> // what the AI SDK's version says that its parts are
}

/** Returns a stream of the error alone. The message that the hook has stays as it is. */
const errorStream = <Chunk>(errorText: string): ReadableStream<Chunk> =>
  new ReadableStream<UiChunk & { errorText: string }>({
    start(controller) {
      controller.enqueue({ type: 'error', errorText })
      controller.close()
    },
  }) as unknown as ReadableStream<Chunk>

const plain = (headers: Record<string, string> | Headers | undefined): Record<string, string> =>
  Object.fromEntries(new Headers(headers))

async function* chunksOf(
  events: AsyncIterable<{ data: string }>,
  repeats: ReturnType<typeof withoutRepeats>,
): AsyncGenerator<UiChunk, void> {
  for await (const { data } of events) {
    if (data === '[DONE]') return
    const chunk = repeats.rest(JSON.parse(data))
    if (chunk !== null) yield chunk
  }
}
