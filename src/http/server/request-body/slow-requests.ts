/** A request must arrive in time (contract section 18), whether or not anybody reads its body. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { LATE } from './incoming-body.ts'

export interface ArrivalLimits {
  /** The time for which the speed is not checked. */
  freeMs: number
  /** Afterwards at least so many bytes a second. */
  bytesPerS: number
  /** However fast. */
  longestMs: number
  /** However fast, on routes that need no credential. */
  openMs: number
  /**
   * The time for which the connection stays open after the answer while the rest of a body comes, so that the client
   * can read that.
   */
  lingerMs: number
  /** The most bytes of the rest that is read and discarded. */
  lingerBytes: number
  checkMs: number
}

export const ARRIVAL_LIMITS: ArrivalLimits = {
  freeMs: 60_000,
  bytesPerS: 64 * 1024,
  longestMs: 600_000,
  openMs: 10_000,
  lingerMs: 2000,
  lingerBytes: 2 ** 20,
  checkMs: 1000,
}

interface Arrival {
  longestMs: number
  beganAt: number
  /** The time of the last check, and what the socket had read by then. */
  seenAt: number
  seenBytes: number
}

/**
 * Ends requests whose body comes too slowly, by the speed of their socket: with 408 when the body is being read, else
 * without a word. Node's own limits are for headers (60 s) and cannot measure speed. One timer for all requests.
 */
export function endSlowRequests(app: FastifyInstance, limits: ArrivalLimits = ARRIVAL_LIMITS): void {
  const arriving = new Map<IncomingMessage, Arrival>()
  app.addHook('onRequest', ({ raw, routeOptions }, { raw: response }, done) => {
    if (!raw.complete && announcesBody(raw)) {
      const now = performance.now()
      const isOpen = routeOptions.config.operation?.open === true
      const seen = { seenAt: now, seenBytes: raw.socket.bytesRead }
      closeGently(raw)
      arriving.set(raw, { longestMs: isOpen ? limits.openMs : limits.longestMs, beganAt: now, ...seen })
      // Not only at the next look: a second later, request and answer would be in V8's old generation.
      raw.once('close', () => arriving.delete(raw))
      // Before Node, which would read all that comes.
      response.prependOnceListener('finish', () => {
        if (arriving.delete(raw) && !raw.complete) linger(raw, limits)
      })
    }
    done()
  })
  // Fastify closes the connection after a body that it refused. While the client still writes, that resets it, and the
  // answer may be lost (seen: three of four 413s for 6 MB). The rest is discarded instead, while we linger.
  app.addHook('onError', async ({ raw }, reply) => {
    if (raw.complete) return
    const isReadToItsEnd = Number(raw.headers['content-length'] ?? Infinity) <= limits.lingerBytes
    if (isReadToItsEnd) reply.removeHeader('connection')
    else reply.header('connection', 'close')
  })
  const check = () => {
    const now = performance.now()
    for (const [request, arrival] of arriving) {
      if (request.complete || request.destroyed || request.socket.destroyed) arriving.delete(request)
      else if (isLate(look(arrival, request.socket.bytesRead, now), limits)) end(request)
    }
  }
  const timer = setInterval(check, limits.checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Closes the connection gently. After an answer that is the last on its connection Node destroys that, which resets it
 * while the client still writes: EPIPE, before it has read why it was refused. The rest is read first, until its end,
 * or until we linger no longer. Our side stays open as well: some clients write no more once it has ended.
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

/**
 * Discards the rest of a body that was answered already, and closes the connection when it has not ended in time. Behind
 * `lingerBytes` nothing more is read: the client waits with what it would write, rather than to find its connection reset.
 */
function linger(request: IncomingMessage, { lingerMs, lingerBytes }: ArrivalLimits): void {
  const { socket } = request
  const late = setTimeout(() => socket.destroy(), lingerMs)
  let read = 0
  request.on('data', ({ length }: Buffer) => {
    read += length
    if (read > lingerBytes) request.pause()
  })
  request.read(0) // as what is read Node does not discard by itself
  request.once('close', () => clearTimeout(late))
}

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export interface Progress {
  ageMs: number
  longestMs: number
  /** Bytes since the last check. */
  windowMs: number
  windowBytes: number
}

/** Returns whether to wait for this request no longer. */
export function isLate({ ageMs, longestMs, windowMs, windowBytes }: Progress, limits: ArrivalLimits): boolean {
  if (ageMs >= longestMs) return true
  return ageMs >= limits.freeMs && windowBytes * 1000 < limits.bytesPerS * windowMs
}

/** Notes what it sees for the next time. */
function look(arrival: Arrival, bytes: number, now: number): Progress {
  const { beganAt, longestMs, seenAt, seenBytes } = arrival
  arrival.seenAt = now
  arrival.seenBytes = bytes
  return { ageMs: now - beganAt, longestMs, windowMs: now - seenAt, windowBytes: bytes - seenBytes }
}

/** Ends the request. Its reader answers 408. */
function end(request: IncomingMessage): void {
  if (!request.emit(LATE)) request.socket.destroy()
}
