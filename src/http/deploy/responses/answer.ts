/** A stored reply as an answer of the Responses API: its events, or its object. */
import type { FastifyReply } from 'fastify'
import type { Reply } from '../../../actors/reply/frame-log.ts'
import { closingFrames, frameOf } from '../../../actors/reply/reply-event.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readReply } from '../../../persistence/replies/reading/read-reply.ts'
import type { StoredResponse } from '../../../persistence/replies/reading/stored-responses.ts'
import { missing } from '../../server/http-error.ts'
import { readToEnd, streamBatches } from '../../streaming/reply-stream.ts'
import { generationFailed } from '../errors.ts'
import { createResponseEncoder, type ResponseEncoder } from './encoder.ts'
import { isFailure, type ResponseHead, type ResponseObject } from './response-object.ts'

const headOf = (reply: ResponseHead['reply'], { sessionId, previousId, request }: StoredResponse): ResponseHead => ({
  reply,
  sessionId,
  previousId,
  request,
})

/** The response as it is stored now. Throws 404. */
export async function storedResponse(sql: Sql, stored: StoredResponse): Promise<ResponseObject> {
  return (await encoded(sql, stored)).response()
}

async function encoded(sql: Sql, stored: StoredResponse): Promise<ResponseEncoder> {
  const reply = (await readReply(sql, stored.id, 0)) ?? missing('response')
  const { info, events, outcome } = reply
  const encoder = createResponseEncoder(headOf(info, stored), Number.POSITIVE_INFINITY)
  encoder.encode([{ seq: info.firstSeq, type: 'started' }, ...events.map(frameOf)])
  // Numbers of frames are of no account here.
  if (outcome) encoder.encode(closingFrames(outcome, 0, false))
  return encoder
}

/** Streams the events behind the number `after` (-1: all of them). */
export async function streamEvents(
  fastifyReply: FastifyReply,
  { reply, stored, after }: { reply: Reply; stored: StoredResponse; after: number },
  onLeft?: () => void,
): Promise<void> {
  const encoder = createResponseEncoder(headOf(reply.info, stored), after)
  await streamBatches(fastifyReply, reply, 0, (frames) => encoder.encode(frames), onLeft)
}

/** Waits for the end. Throws 500 with why it failed. Undefined when the client has gone. */
export async function wholeResponse(
  fastifyReply: FastifyReply,
  { reply, stored }: { reply: Reply; stored: StoredResponse },
  onLeft: () => void,
): Promise<ResponseObject | undefined> {
  const encoder = createResponseEncoder(headOf(reply.info, stored), Number.POSITIVE_INFINITY)
  const isWhole = await readToEnd(fastifyReply, reply, onLeft, (frames) => void encoder.encode(frames))
  if (!isWhole) {
    fastifyReply.hijack() // nobody waits for an answer
    return undefined
  }
  const ended = encoder.ended()
  return isFailure(ended) ? generationFailed({ ...ended, detail: ended.message }) : encoder.response()
}
