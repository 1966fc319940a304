/** A session's reply → HTTP: as a stream that can be resumed, or as one JSON body. Deploy and playground share it. */
import type { FastifyReply } from 'fastify'
import { type Reply, StreamCut } from '../../actors/reply/frame-log.ts'
import type { FinishReason, Frame, ReplyError, ShownCall, Usage } from '../../actors/reply/reply-event.ts'
import { firstAbort } from '../../async/first-abort.ts'
import { HttpError } from '../server/http-error.ts'
import { completionBody, completionHead, createFrameEncoder, type FrameEncoder } from './completion-frames.ts'
import { clientLeft, openEventStream } from './sse.ts'

/** What is sent of a frame. Empty when it is not shown. */
type Encode = (encoder: FrameEncoder, frame: Frame) => string

type EncodeBatch = (frames: readonly Frame[]) => string

/** Streams the frames after the id `after` as completion chunks, and ends. The rest is streamBatches'. */
export function streamReply(
  fastifyReply: FastifyReply,
  reply: Reply,
  after: number,
  encode: Encode,
  onLeft?: () => void,
): Promise<void> {
  const encoder = createFrameEncoder(completionHead(reply.info))
  const encodeBatch: EncodeBatch = (frames) => {
    let text = ''
    for (const frame of frames) text += encode(encoder, frame)
    return text
  }
  return streamBatches(fastifyReply, reply, after, encodeBatch, onLeft)
}

/**
 * Streams what `encode` makes of the frames after the id `after`, and ends; breaks off without a last frame when nothing
 * can be stored. `onLeft` is called once when the client leaves before the end.
 */
export async function streamBatches(
  fastifyReply: FastifyReply,
  reply: Reply,
  after: number,
  encode: EncodeBatch,
  onLeft: () => void = () => {},
): Promise<void> {
  const stream = openEventStream(fastifyReply)
  let ended = false
  onceLeft(stream.signal, () => {
    if (!ended) onLeft()
  })
  try {
    await reply.read(after, stream.signal, (batch) => {
      const last = batch.at(-1)?.type
      ended ||= last === 'done' || last === 'failed'
      return stream.write(encode(batch))
    })
    if (stream.signal.aborted) return
    stream.end()
  } catch (error) {
    // Either StreamCut, or the database went away under a follower: a later resume reads on.
    fastifyReply.log.warn({ err: error, replyId: reply.info.id }, 'A stream broke off.')
    stream.destroy()
  }
}

/** Calls it at once when the client has disconnected already: its message may have waited long to be admitted. */
function onceLeft(client: AbortSignal, onLeft: () => void): void {
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
  /** Those that wait and are shown. */
  calls: readonly ShownCall[]
  usage: Usage
  error: ReplyError | null
}

const noUsage: Usage = { promptTokens: 0, completionTokens: 0, estimated: true }

/**
 * Hands all frames of the reply to `take`, up to its end. False when the client disconnected first, and `onLeft` was called.
 * Throws 500 where nothing can be stored, and the error to answer with when the answer is to break off.
 */
export async function readToEnd(
  fastifyReply: FastifyReply,
  reply: Reply,
  onLeft: () => void,
  take: (frames: readonly Frame[]) => void,
): Promise<boolean> {
  const client = connectionSignal(fastifyReply)
  const { breakOff } = fastifyReply.request
  onceLeft(client, onLeft)
  try {
    await reply.read(0, breakOff ? firstAbort(client, breakOff) : client, (batch) => {
      take(batch)
      return undefined
    })
  } catch (error) {
    // Not 503: the message is stored, and a balancer would bring it to the next instance. A client's own retry joins.
    if (error instanceof StreamCut) throw new HttpError(500, error.message, { 'retry-after': '2' })
    throw error
  }
  breakOff?.throwIfAborted()
  return !client.aborted
}

/** Waits for the whole reply and answers with it, or as `failed` throws. */
export async function answerWhole(
  fastifyReply: FastifyReply,
  reply: Reply,
  onLeft: () => void,
  failed: (error: ReplyError) => never,
) {
  const { model } = reply.info
  const whole: WholeReply = {
    content: '',
    reasoning: '',
    model,
    reason: 'stop',
    calls: [],
    usage: noUsage,
    error: null,
  }
  const texts: string[] = []
  const thoughts: string[] = []
  const isWhole = await readToEnd(fastifyReply, reply, onLeft, (batch) => {
    for (const frame of batch) {
      if (frame.type === 'text') texts.push(frame.text)
      else if (frame.type === 'reasoning') thoughts.push(frame.text)
      else if (frame.type === 'finished') Object.assign(whole, { reason: frame.reason, usage: frame.usage })
      else if (frame.type === 'calls') whole.calls = frame.calls
      else if (frame.type === 'failed') whole.error = frame.error
      else if (frame.type === 'stored' && frame.stored.event.type === 'model') whole.model = frame.stored.event.model
    }
  })
  if (!isWhole) {
    fastifyReply.hijack() // the client has disconnected
    return undefined
  }
  if (whole.error) return failed(whole.error)
  whole.content = texts.join('')
  whole.reasoning = thoughts.join('')
  const head = completionHead({ ...reply.info, model: whole.model })
  return completionBody(head, whole, whole.reason, whole.usage)
}

/** `Last-Event-ID` as a frame id; 0 when absent or empty. Throws 400. */
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
