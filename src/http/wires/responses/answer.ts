/** Stored replies as answers of the Responses API: as events, or as an object. */
import type { FastifyReply } from 'fastify'
import type { Reply } from '../../../actors/reply/frame-log.ts'
import { closingFrames, type Frame, frameOf, type ReplyError } from '../../../actors/reply/reply-event.ts'
import type { Queued } from '../../../actors/session/send.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readReply } from '../../../persistence/replies/reading/read-reply.ts'
import { missing } from '../../server/http-error.ts'
import { readToEnd, streamBatches } from '../../streaming/reply-stream.ts'
import { generationFailed } from '../chat/errors.ts'
import { createResponseEncoder, type ResponseEncoder } from './output/encoder.ts'
import { isFailure, type ResponseHead, type ResponseObject, responseObject } from './output/response-object.ts'
import type { StoredResponse } from './store/stored-responses.ts'

const headOf = (
  reply: ResponseHead['reply'],
  { sessionId, encoder, previousId, request }: StoredResponse,
): ResponseHead => ({
  reply,
  sessionId,
  encoder,
  previousId: request?.behind ?? previousId,
  request,
})

/** Returns the response of a message that is in the queue, or was removed from it. */
export function queuedResponse(stored: StoredResponse, status: 'queued' | 'cancelled'): ResponseObject {
  const { createdAt = '', model = '' } = stored.queued ?? {}
  const head = headOf({ id: stored.id, createdAt, model }, stored)
  return responseObject(head, { model, output: [], usage: null, ended: null }, status)
}

/** Returns the response as it is stored now, or as it began (`asBegun`). Throws 404. */
export async function storedResponse(
  sql: Sql,
  stored: StoredResponse,
  { asBegun = false }: { asBegun?: boolean } = {},
): Promise<ResponseObject> {
  if (stored.status === 'queued') return queuedResponse(stored, 'queued')
  if (stored.status === 'dequeued') return queuedResponse(stored, 'cancelled')
  const reply = (await readReply(sql, stored.id, 0)) ?? missing('response')
  const { info, events, outcome } = reply
  const encoder = createResponseEncoder(headOf(info, stored), Number.POSITIVE_INFINITY)
  encoder.encode([{ seq: info.firstSeq, type: 'started' }, ...(asBegun ? [] : events.map(frameOf))])
  // Frame numbers do not matter here.
  if (outcome && !asBegun) encoder.encode(closingFrames(outcome, 0, false))
  return encoder.response()
}

/** A reply to follow. `find` reads its stored response once the reply has started. */
export interface Following {
  source: Reply | Queued
  find(): Promise<StoredResponse>
}

/** Streams the events after the number `after` (-1: all events). */
export async function streamEvents(
  fastifyReply: FastifyReply,
  { source, find, after }: Following & { after: number },
  onLeft?: () => void,
): Promise<void> {
  const open = async ({ info }: Reply) => {
    const encoder = createResponseEncoder(headOf(info, await find()), after)
    return (frames: readonly Frame[]) => encoder.encode(frames)
  }
  await streamBatches(fastifyReply, source, 0, { open, never: errorEvent }, onLeft)
}

/**
 * Returns an error event. It repeats the fields at the top level, as OpenAI's types have them, and in an object, as
 * Open Responses has them.
 */
function errorEvent({ code, message }: ReplyError): string {
  const fields = { code, message, param: null }
  const event = { type: 'error', sequence_number: 0, ...fields, error: { type: 'server_error', ...fields } }
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * Waits for the end of a reply, and returns its response. It is undefined when the client has disconnected. Throws 500
 * with the reason of a failure.
 */
export async function wholeResponse(
  fastifyReply: FastifyReply,
  { source, find }: Following,
  onLeft: () => void,
): Promise<ResponseObject | undefined> {
  let encoder: ResponseEncoder | null = null
  const isWhole = await readToEnd(fastifyReply, source, { onLeft, failed: generationFailed }, async ({ info }) => {
    const opened = createResponseEncoder(headOf(info, await find()), Number.POSITIVE_INFINITY)
    encoder = opened
    return (frames) => void opened.encode(frames)
  })
  const whole = encoder as ResponseEncoder | null
  if (!isWhole || whole === null) {
    fastifyReply.hijack() // the client has disconnected
    return undefined
  }
  const ended = whole.ended()
  return isFailure(ended) ? generationFailed({ ...ended, detail: ended.message }) : whole.response()
}
