/** A request must arrive in time (contract section 18), whether or not anybody reads its body. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { LATE } from './incoming-body.ts'

export interface ArrivalLimits {
  /** How long the speed is not checked. */
  freeMs: number
  /** Afterwards at least so many bytes a second. */
  bytesPerS: number
  /** However fast. */
  longestMs: number
  /** How long the rest of a body is discarded after the answer, so that the client can read that. */
  lingerMs: number
  checkMs: number
}

export const ARRIVAL_LIMITS: ArrivalLimits = {
  freeMs: 60_000,
  bytesPerS: 64 * 1024,
  longestMs: 600_000,
  lingerMs: 5000,
  checkMs: 1000,
}

interface Arrival {
  response: ServerResponse
  beganAt: number
  /** The time of the last check, and what the socket had read by then. */
  seenAt: number
  seenBytes: number
  answeredAt: number | null
}

/**
 * Ends requests whose body comes too slowly, by the speed of their socket: with 408 when the body is being read, else
 * without a word. Node's own limits are for headers (60 s) and cannot measure speed. One timer for all requests.
 */
export function endSlowRequests(app: FastifyInstance, limits: ArrivalLimits = ARRIVAL_LIMITS): void {
  const arriving = new Map<IncomingMessage, Arrival>()
  app.addHook('onRequest', async ({ raw }, { raw: response }) => {
    if (raw.complete || !announcesBody(raw)) return
    const now = performance.now()
    const seen = { seenAt: now, seenBytes: raw.socket.bytesRead }
    closeGently(raw)
    arriving.set(raw, { response, beganAt: now, ...seen, answeredAt: null })
    // Not only at the next look: a second later, request and answer would be in V8's old generation.
    raw.once('close', () => arriving.delete(raw))
  })
  // Fastify closes the connection after a body that it refused. While the client still writes, that resets it, and the
  // answer may be lost (seen: three of four 413s for 6 MB). The rest is discarded instead, for as long as we linger.
  app.addHook('onError', async ({ raw }, reply) => {
    if (!raw.complete) reply.removeHeader('connection')
  })
  const check = () => {
    const now = performance.now()
    for (const [request, arrival] of arriving) {
      if (request.complete || request.destroyed || request.socket.destroyed) arriving.delete(request)
      else if (isLate(look(arrival, request.socket.bytesRead, now), limits)) end(request, arrival)
    }
  }
  const timer = setInterval(check, limits.checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * After an answer that is the last on its connection Node destroys that, which resets it while the client still writes:
 * EPIPE, before it has read why it was refused. The rest is read first, until its end, or until we linger no longer. Our
 * side stays open as well: some clients write no more once it has ended.
 */
function closeGently(request: IncomingMessage): void {
  const { socket } = request
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    if (request.complete) return destroySoon()
    request.once('end', destroySoon).resume()
  }
  request.once('close', () => {
    socket.destroySoon = destroySoon
  })
}

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export interface Progress {
  ageMs: number
  /** Bytes since the last check. */
  windowMs: number
  windowBytes: number
  /** Null when it is not answered yet. */
  answeredForMs: number | null
}

/** Whether to wait for this request no longer. */
export function isLate({ ageMs, windowMs, windowBytes, answeredForMs }: Progress, limits: ArrivalLimits): boolean {
  if (answeredForMs !== null && answeredForMs >= limits.lingerMs) return true
  if (ageMs >= limits.longestMs) return true
  return ageMs >= limits.freeMs && windowBytes * 1000 < limits.bytesPerS * windowMs
}

/** Notes what it sees for the next time. */
function look(arrival: Arrival, bytes: number, now: number): Progress {
  if (arrival.response.writableFinished) arrival.answeredAt ??= now
  const { beganAt, seenAt, seenBytes, answeredAt } = arrival
  arrival.seenAt = now
  arrival.seenBytes = bytes
  return {
    ageMs: now - beganAt,
    windowMs: now - seenAt,
    windowBytes: bytes - seenBytes,
    answeredForMs: answeredAt === null ? null : now - answeredAt,
  }
}

function end(request: IncomingMessage, { answeredAt }: Arrival): void {
  // Its reader answers 408; the rest that arrives is discarded for a while.
  if (answeredAt === null && request.emit(LATE)) return
  request.socket.destroy()
}
