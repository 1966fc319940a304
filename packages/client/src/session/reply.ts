/** A reply as a program reads it: an async iterable over any number of connections, and its outcome. */
import { ApiError, ReplyError, refusalOf } from '../errors.ts'
import { follow, type Reconnect } from '../wire/follow.ts'
import { codeOf, frameReader, isLastFrame, newPlace, type Place, type ReplyEvent, reasonOf } from './reply-frames.ts'

export interface FollowReplyOptions {
  /** Ends the reading, not the reply: that is `cancel`. */
  signal?: AbortSignal | undefined
  /** `open`: connected. `lost`: the connection broke, and is being restored. */
  onConnection?: (state: 'open' | 'lost') => void
  /** Overrides the client's options for this reply. */
  reconnect?: Reconnect
}

/**
 * Each event comes once, however often the connection breaks. Reading rejects with `ApiError` when the message is
 * refused, `ReplyError` when the reply fails, `ConnectionError` when the server stays unreachable, and with the signal's
 * reason. A second loop continues where the first was left.
 */
export interface Reply<Message> extends AsyncIterable<ReplyEvent> {
  /** Null until the first event. */
  readonly messageId: string | null
  /** The id of the last event that was read. With `messageId` it is all that `resume` needs. */
  readonly lastEventId: number
  /** Reads to the end. The whole text; of a reply that was resumed behind an id, what came after it. */
  text(): Promise<string>
  /** Reads to the end. The message as it is stored, whatever its status: of a failed reply too. */
  message(): Promise<Message>
  /** Stops the reply, on whichever instance it runs; its text so far stays. Resolves when it has ended, or after 2 s. */
  cancel(): Promise<void>
}

/** The requests of one of the two APIs. */
export interface ReplyWire<Message> {
  /** Sends the message. Null when an earlier reply is followed. */
  start: ((signal: AbortSignal) => Promise<Response>) | null
  /** Returns whether it may be sent again after this failure; null: its stream ended early. */
  mayStartAgain(failure: unknown): boolean
  resume(lastEventId: number, signal: AbortSignal): Promise<Response>
  /** Returns the stored message, or undefined if there is none. */
  find(messageId: string): Promise<Message | undefined>
  ending(message: Message): {
    content: string
    /** Undefined when there is none. */
    reasoning: string | undefined
    reason: string | null
    error: { code: string; message: string } | null
  }
  cancel(): Promise<void>
}

/** Creates a reply. `from`: where to continue; default: at the beginning. */
export function createReply<Message>(
  wire: ReplyWire<Message>,
  options: FollowReplyOptions,
  from: { messageId?: string | null; lastEventId?: number } = {},
): Reply<Message> {
  const place = newPlace(from.messageId ?? null, from.lastEventId ?? 0)
  const read = readerOf(wire, options, place)
  // The message goes out now, whether or not anybody reads the reply.
  let first = wire.start === null ? null : begin(read())
  const begun = first?.begun
  let whole: Promise<void> | null = null
  const reply: Reply<Message> = {
    get messageId() {
      return place.messageId
    },
    get lastEventId() {
      return place.lastEventId
    },
    async text() {
      whole ??= drain(reply).finally(() => {
        whole = null
      })
      await whole
      return place.text
    },
    async message() {
      await reply.text().catch((error: unknown) => {
        if (!(error instanceof ReplyError) || error.code === 'session_deleted') throw error
      })
      return storedMessage(wire, place)
    },
    async cancel() {
      // The server may not have the message yet. One that it refused has no reply: another may run.
      const failure = await begun
      if (!place.ended && !(failure instanceof ApiError)) await wire.cancel()
    },
    [Symbol.asyncIterator]() {
      const events = first ?? read()
      first = null
      return events
    },
  }
  return reply
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

/** Takes the first step at once, and keeps it for the reader. */
function begin(events: AsyncGenerator<ReplyEvent, void>): AsyncIterator<ReplyEvent> & { begun: Promise<unknown> } {
  let first: Promise<IteratorResult<ReplyEvent, void>> | null = events.next()
  return {
    /** The error of the first step, or null. */
    begun: first.then(
      () => null,
      (error: unknown) => error,
    ),
    next() {
      const step = first ?? events.next()
      first = null
      return step
    },
    return: () => events.return(),
  }
}

/**
 * Creates the reader of a reply. It has one consumer at a time; each continues where the one before stopped. A final
 * error is thrown again.
 */
function readerOf<Message>(wire: ReplyWire<Message>, options: FollowReplyOptions, place: Place) {
  const { connect, mayRepeat } = connector(wire, place)
  const knowsAllBefore = place.lastEventId === 0
  let isRead = false
  let failure: { error: unknown } | null = null
  const isFinal = (error: unknown) =>
    error instanceof ReplyError || (error instanceof ApiError && !error.passes) || !mayRepeat(error)
  return async function* read(): AsyncGenerator<ReplyEvent, void> {
    if (failure !== null) throw failure.error
    if (place.ended) return
    if (isRead) throw new Error('The reply is already being read: leave that loop first, or await its end.')
    isRead = true
    try {
      yield* framesOf(connect, mayRepeat, options, place)
      if (place.superseded) yield* restOf(wire, place, knowsAllBefore)
    } catch (error) {
      if (isFinal(error)) failure = { error }
      throw error
    } finally {
      isRead = false
    }
    if (!place.ended && place.messageId !== null) throw new ReplyError('unknown', 'The reply is not there.', place)
  }
}

async function* framesOf(
  connect: (signal: AbortSignal) => Promise<Response | null>,
  mayRepeat: (failure: unknown) => boolean,
  options: FollowReplyOptions,
  place: Place,
): AsyncGenerator<ReplyEvent, void> {
  let eventOf = frameReader(place)
  const frames = follow({
    ...options,
    mayRepeat,
    isLast: (frame) => place.superseded || isLastFrame(frame),
    connect(signal) {
      eventOf = frameReader(place)
      return connect(signal)
    },
  })
  for await (const frame of frames) {
    const event = eventOf(frame)
    if (event !== null) yield event
  }
}

/** Creates the requests that continue from a place. */
function connector<Message>({ start, mayStartAgain, resume }: ReplyWire<Message>, place: Place) {
  let wasFound = false
  /** True while its message is queued: until its reply begins, the session's stream is that of another reply. */
  let isQueued = false
  const connect = async (signal: AbortSignal): Promise<Response | null> => {
    // As long as its id is unknown the message itself is sent again: its key leads it to its own reply.
    const isSent = place.messageId !== null || (wasFound && !mayStartAgain(null))
    const response = await (start === null || isSent ? resume(place.lastEventId, signal) : start(signal))
    if (response.status === 404 && wasFound) {
      throw new ReplyError('session_deleted', 'The session was deleted.', place)
    }
    if (!response.ok) throw await refusalOf(response)
    wasFound = true
    isQueued ||= response.headers.has('x-queue-position')
    return response.status === 204 ? null : response
  }
  const mayResume = () => wasFound && !(isQueued && place.messageId === null)
  return { connect, mayRepeat: (failure: unknown) => start === null || mayResume() || mayStartAgain(failure) }
}

/** Yields the rest of a reply from storage, since the stream is a newer reply's by now. */
async function* restOf<Message>(
  wire: ReplyWire<Message>,
  place: Place,
  knowsAllBefore: boolean,
): AsyncGenerator<ReplyEvent, void> {
  if (!knowsAllBefore) {
    throw new ReplyError('superseded', 'The session has a newer reply; read this one with messages().', place)
  }
  const { content, reasoning = '', reason, error } = wire.ending(await storedMessage(wire, place))
  const thought = reasoning.slice(place.reasoning.length)
  place.reasoning = reasoning
  if (thought !== '') yield { type: 'reasoning', text: thought }
  const text = content.slice(place.text.length)
  place.text = content
  if (text !== '') yield { type: 'text', text }
  place.ended = true
  if (error !== null) throw new ReplyError(codeOf(error.code), error.message, place)
  yield { type: 'finished', reason: reasonOf(reason), usage: place.usage }
}

async function storedMessage<Message>(wire: ReplyWire<Message>, place: Place): Promise<Message> {
  const message = place.messageId === null ? undefined : await wire.find(place.messageId)
  if (message === undefined) throw new ReplyError('unknown', 'The session has no such reply.', place)
  return message
}
