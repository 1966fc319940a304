/** A session's reply → HTTP: as a stream that can be resumed, or as one JSON body. Deploy and playground share it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyInfo } from '../../actors/ports/index.ts'
import { type Reply, StreamCut } from '../../actors/reply/frame-log.ts'
import {
  type FinishReason,
  type Frame,
  noUsage,
  type ReplyError,
  type ReplyEvent,
  type ShownCall,
  type Usage,
} from '../../actors/reply/reply-event.ts'
import type { SessionHost } from '../../actors/session/host.ts'
import type { Queued } from '../../actors/session/send.ts'
import { firstAbort } from '../../async/first-abort.ts'
import { neverBegun, refuseNeverBegun, replyIdOf } from '../../features/queue/index.ts'
import { newestReply } from '../../features/sessions/index.ts'
import { isDatabaseGone, type Sql } from '../../persistence/postgres/database.ts'
import { HttpError, missing } from '../server/http-error.ts'
import {
  completionBody,
  completionHead,
  createFrameEncoder,
  errorChunk,
  type FrameEncoder,
} from '../wires/chat/completion-frames.ts'
import { missingAmong, nameMissing } from './missing-tools-header.ts'
import { clientLeft, openEventStream } from './sse.ts'

/** The text that is sent of a frame. Empty when it is not shown. */
type Encode = (encoder: FrameEncoder, frame: Frame) => string

/** An encoder of frames. Its text is late where something has to be read for it. */
export type EncodeBatch = (frames: readonly Frame[]) => string | Promise<string>

/** The way in which the frames of a reply are sent. */
export interface Encoding {
  /** Returns the encoder. Called once the reply has begun. */
  open(reply: Reply): EncodeBatch | Promise<EncodeBatch>
  /** Returns what is sent, under no id, where the reply never begins. */
  never(error: ReplyError): string
}

/** Streams the frames after the id `after` as completion chunks, and ends. The rest is streamBatches'. */
export function streamReply(
  fastifyReply: FastifyReply,
  source: Reply | Queued,
  after: number,
  encode: Encode,
  onLeft?: () => void,
): Promise<void> {
  const open = (reply: Reply): EncodeBatch => {
    const encoder = createFrameEncoder(completionHead(reply.info))
    return (frames) => {
      let text = ''
      for (const frame of frames) text += encode(encoder, frame)
      return text
    }
  }
  return streamBatches(fastifyReply, source, after, { open, never: errorChunk }, onLeft)
}

/**
 * Streams what the encoding makes of the frames after the id `after`, and ends; waits before for a message that is queued.
 * Breaks off without a last frame when nothing
 * can be stored. `onLeft` is called once when the client leaves before the end.
 */
export async function streamBatches(
  fastifyReply: FastifyReply,
  source: Reply | Queued,
  after: number,
  encoding: Encoding,
  onLeft: () => void = () => {},
): Promise<void> {
  const stream = openEventStream(fastifyReply)
  let ended = false
  onceLeft(stream.signal, () => {
    if (!ended) onLeft()
  })
  try {
    const reply = 'begun' in source ? await source.begun(stream.signal) : source
    if (reply === null) return
    if (typeof reply === 'string') {
      ended = true
      await stream.write(encoding.never(neverBegun(reply)))
      return stream.end()
    }
    const encode = await encoding.open(reply)
    await reply.read(after, stream.signal, (batch) => {
      const last = batch.at(-1)?.type
      ended ||= last === 'done' || last === 'failed'
      const text = encode(batch)
      return typeof text === 'string' ? stream.write(text) : text.then((late) => stream.write(late))
    })
    if (stream.signal.aborted) return
    stream.end()
  } catch (error) {
    // Either StreamCut, or the database went away under a follower: a later resume reads on.
    fastifyReply.log.warn({ err: error, replyId: replyIdOf(source) }, 'A stream broke off.')
    stream.destroy()
  }
}

/** Calls it at once when the client has disconnected already: its message may have waited long to be admitted. */
export function onceLeft(client: AbortSignal, onLeft: () => void): void {
  if (client.aborted) onLeft()
  else client.addEventListener('abort', onLeft)
}

/** A whole reply. `error` is set when it failed. */
export interface WholeReply {
  content: string
  /** The model of the last turn. */
  model: string
  /** Empty when it was not asked for, or none came. */
  reasoning: string
  reason: FinishReason
  /** The calls that wait and are shown. */
  calls: readonly ShownCall[]
  usage: Usage
  error: ReplyError | null
}

type TakeFrames = (frames: readonly Frame[]) => void

/**
 * Hands all frames of the reply to what `open` makes of it, up to its end. False when the client disconnected first,
 * and `onLeft` was called. Throws 500 where nothing can be stored, and the error to answer with when the answer is to
 * break off.
 */
export async function readToEnd(
  fastifyReply: FastifyReply,
  source: Reply | Queued,
  { onLeft, failed }: { onLeft: () => void; failed: (error: ReplyError) => never },
  open: (reply: Reply) => TakeFrames | Promise<TakeFrames>,
): Promise<boolean> {
  const client = connectionSignal(fastifyReply)
  const { breakOff } = fastifyReply.request
  onceLeft(client, onLeft)
  const signal = breakOff ? firstAbort(client, breakOff) : client
  await afterStored(onLeft, async () => {
    const reply = 'begun' in source ? await source.begun(signal) : source
    if (typeof reply === 'string') return refuseNeverBegun(reply, failed)
    const take = reply && (await open(reply))
    let missing: ReturnType<typeof missingAmong> = null
    await reply?.read(0, signal, (batch) => {
      missing = missingAmong(batch) ?? missing
      take?.(batch)
      return undefined
    })
    nameMissing(fastifyReply, missing)
  })
  breakOff?.throwIfAborted()
  return !client.aborted
}

/**
 * Does what an answer still needs once its message is stored. What cannot be read then is 500, not 503: that would say
 * that nothing is stored (contract section 10), and a balancer would bring the message to the next instance. A client's
 * own retry joins.
 */
export async function afterStored<T>(onLeft: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StreamCut) && !isDatabaseGone(error)) throw error
    onLeft()
    const { message } = error instanceof StreamCut ? error : new StreamCut()
    throw new HttpError(500, message, { 'retry-after': '2' })
  }
}

/** Keeps what a whole answer shows of a frame, but for its texts. */
function keepFrame(whole: WholeReply, frame: Exclude<Frame, { type: 'text' | 'reasoning' }>): void {
  switch (frame.type) {
    case 'stored':
      keepEvent(whole, frame.stored.event)
      return
    case 'calls':
      whole.calls = frame.calls
      return
    case 'finished':
      whole.reason = frame.reason
      whole.usage = frame.usage
      return
    case 'failed':
      whole.error = frame.error
      return
    case 'started':
    case 'usage':
    case 'done':
    case 'state':
      return
    default:
      frame satisfies never
  }
}

function keepEvent(whole: WholeReply, event: ReplyEvent): void {
  switch (event.type) {
    case 'model':
      whole.model = event.model
      return
    case 'text':
    case 'reasoning': // these come as frames of their own
    case 'tool_call':
    case 'tool_begun':
    case 'tool_asked':
    case 'tool_result':
    case 'tool_unknown': // `calls` are those that are shown
      return
    default:
      event satisfies never
  }
}

/** Waits for the whole reply and answers with it, or as `failed` throws. */
export async function answerWhole(
  fastifyReply: FastifyReply,
  source: Reply | Queued,
  onLeft: () => void,
  failed: (error: ReplyError) => never,
) {
  let info: ReplyInfo | null = null
  const whole: WholeReply = {
    content: '',
    reasoning: '',
    model: '',
    reason: 'stop',
    calls: [],
    usage: noUsage,
    error: null,
  }
  const texts: string[] = []
  const thoughts: string[] = []
  const take = (batch: readonly Frame[]) => {
    for (const frame of batch) {
      if (frame.type === 'text') texts.push(frame.text)
      else if (frame.type === 'reasoning') thoughts.push(frame.text)
      else keepFrame(whole, frame)
    }
  }
  const isWhole = await readToEnd(fastifyReply, source, { onLeft, failed }, (reply) => {
    info = reply.info
    whole.model = info.model
    return take
  })
  if (!isWhole || info === null) {
    fastifyReply.hijack() // the client has disconnected
    return undefined
  }
  if (whole.error) return failed(whole.error)
  whole.content = texts.join('')
  whole.reasoning = thoughts.join('')
  const head = completionHead({ ...(info as ReplyInfo), model: whole.model })
  return completionBody(head, whole, whole.reason, whole.usage)
}

/**
 * Streams the named or newest reply after the request's `Last-Event-ID`. Answers 204 without a reply. Throws 400 and
 * 404.
 */
export async function followReply(
  { sql, host }: { sql: Sql; host: Pick<SessionHost, 'open'> },
  { agent_id, session_id }: { agent_id: string; session_id: string },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  encode: Encode,
  named?: string,
): Promise<FastifyReply | undefined> {
  const newest = await newestReply(sql, agent_id, session_id, named)
  if (!newest.found) missing('session')
  if (named !== undefined && newest.replyId === null) missing('reply')
  const after = lastEventId(request.headers['last-event-id'])
  const found = newest.replyId === null ? null : await host.open(newest.replyId)
  if (found === null) return reply.code(204).send()
  await streamReply(reply, found, after, encode)
  return undefined
}

/** Returns `Last-Event-ID` as a frame id; 0 when absent or empty. Throws 400. */
export function lastEventId(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header.join() : (header ?? '').trim()
  if (text === '') return 0
  if (!/^\d+$/.test(text)) throw new HttpError(400, 'Last-Event-ID: must be a whole number of 0 or more')
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** Aborts when the request's connection closes before it was answered. */
export function connectionSignal(fastifyReply: FastifyReply): AbortSignal {
  const { raw } = fastifyReply
  const controller = new AbortController()
  const left = () => {
    if (!raw.writableFinished) controller.abort(clientLeft)
  }
  raw.on('close', left)
  if (raw.closed || raw.destroyed) left()
  return controller.signal
}
