/**
 * Server-sent events over a raw response (contract section 3): headers, heartbeats, back-pressure, and the end of
 * clients that read nothing. `fastify-sse-v2` ends a comment with a blank line, which makes one common client
 * dispatch an empty event, and hops through ten promises a frame; it carries the debug streams.
 */

import type { Server, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { atMost } from '../../async/pause.ts'
import { withEscapedLineEnds } from '../../untrusted/line-ends.ts'

const HEARTBEAT_MS = 15_000
const STALLED_MS = 60_000
const CHECK_MS = 1000
/** Largest single write: `drain` comes after each, so a slow client that takes this much a minute is not stalled. */
const PIECE_BYTES = 16 * 1024

/** A comment with one line end: the blank line that ends an event must not follow (contract section 3). */
const PING = ': ping\n'

interface OpenStream {
  response: ServerResponse
  /** Writes one piece, as a chunk of its own where the response is chunked. False when the socket is full. */
  put(bytes: Buffer | string): boolean
  lastWrite: number
  /** The time at which the socket became full; null while it accepts all. */
  blockedSince: number | null
}

/** A shared error for all streams: building one with its stack costs 40 µs. */
export const clientLeft = new DOMException('The client has left.', 'AbortError')

const open = new Set<OpenStream>()
let timer: NodeJS.Timeout | null = null

/** Checks all streams, with one timer. */
function check(): void {
  const now = performance.now()
  for (const stream of open) {
    if (stream.blockedSince !== null) {
      if (now - stream.blockedSince > STALLED_MS) stream.response.destroy()
    } else if (now - stream.lastWrite > HEARTBEAT_MS) {
      stream.lastWrite = now
      if (!stream.put(PING)) void block(stream) // not awaited; it never rejects
    }
  }
}

function block(stream: OpenStream): Promise<void> {
  stream.blockedSince = performance.now()
  return new Promise((resolve) => {
    const done = () => {
      stream.blockedSince = null
      stream.lastWrite = performance.now()
      stream.response.off('drain', done)
      stream.response.off('close', done)
      resolve()
    }
    stream.response.on('drain', done)
    stream.response.on('close', done)
  })
}

/** Resolves when no stream of `server` is open, or after `ms`. */
export async function streamsEnded(server: Server, ms: number): Promise<void> {
  const responses = [...open]
    .filter(({ response: { req } }) => 'server' in req.socket && req.socket.server === server)
    .map(({ response }) => new Promise((resolve) => response.on('close', resolve)))
  if (responses.length === 0) return
  await atMost(ms, Promise.all(responses))
}

export interface EventStream {
  /** A signal that aborts when the client has gone, or was let go because it took nothing. */
  signal: AbortSignal
  /**
   * Writes. Returns a promise when the socket is full: it can take more when that resolves. An empty text is nothing.
   */
  write(text: string): Promise<void> | undefined
  /** Ends the stream in order. */
  end(): void
  /** Breaks it off: what follows is not known now. */
  destroy(): void
}

const CRLF = Buffer.from('\r\n')

/** Writes at once. Left alone, Node gathers what a response writes until the next tick, a callback for each token. */
function writeNow(response: ServerResponse, bytes: Buffer | string): boolean {
  const { socket } = response
  socket?.cork()
  const hasRoom = response.write(bytes)
  socket?.uncork()
  return hasRoom
}

/**
 * Writes chunks in one piece each (RFC 9112, section 7.1): Node's own are four. Texts stay texts, since a buffer would
 * be copied into its chunk. HTTP/1.0 clients get no chunks, and keep what Node does.
 */
function chunked(response: ServerResponse, gathers: boolean): Pick<OpenStream, 'put'> & { end(): void } {
  if (!response.chunkedEncoding) return { put: (bytes) => response.write(bytes), end: () => response.end() }
  response.chunkedEncoding = false
  return {
    put(bytes) {
      const head = `${Buffer.byteLength(bytes).toString(16)}\r\n`
      if (typeof bytes !== 'string') {
        return writeNow(response, Buffer.concat([Buffer.from(head, 'latin1'), bytes, CRLF]))
      }
      const chunk = `${head}${bytes}\r\n`
      return gathers ? response.write(chunk) : writeNow(response, chunk)
    },
    end: () => response.end('0\r\n\r\n'),
  }
}

/**
 * Takes over the reply and sends the headers at once. Headers set on `reply` before go along. Throws, and takes over
 * nothing, when the answer is already to break off. `gathers`: what is written comes several in a tick when the provider
 * is fast, and may go out together; else each is written at once.
 */
export function openEventStream(reply: FastifyReply, { gathers = false } = {}): EventStream {
  const { breakOff } = reply.request
  breakOff?.throwIfAborted()
  reply.hijack()
  const response = reply.raw
  const headers = reply.getHeaders()
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value)
  const isKept = headers['cache-control'] !== 'no-store'
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': isKept ? 'no-cache, no-transform' : 'no-cache, no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  // Head and first frames go out together in the next turn of the event loop: the model's call, which undici makes at
  // the end of this one, goes before them.
  const { socket } = response
  socket?.cork()
  setImmediate(() => setImmediate(() => socket?.uncork()))
  response.flushHeaders()
  socket?.setNoDelay(true)
  const controller = new AbortController()
  const { put, end } = chunked(response, gathers)
  const stream: OpenStream = { response, put, lastWrite: performance.now(), blockedSince: null }
  open.add(stream)
  timer ??= setInterval(check, CHECK_MS).unref()
  response.on('error', () => {}) // a broken pipe; `close` follows
  const closed = () => {
    open.delete(stream)
    if (open.size === 0 && timer) {
      clearInterval(timer)
      timer = null
    }
    controller.abort(clientLeft)
  }
  response.on('close', closed)
  // A message may have waited long to be admitted: its client has left, and `close` does not come again.
  if (response.closed || response.destroyed) closed()
  async function writeInPieces(whole: Buffer): Promise<void> {
    for (let at = 0; at < whole.length && !controller.signal.aborted; at += PIECE_BYTES) {
      stream.lastWrite = performance.now()
      if (!put(whole.subarray(at, at + PIECE_BYTES))) await block(stream)
    }
  }
  return {
    signal: controller.signal,
    write(events) {
      const text = withEscapedLineEnds(events)
      // An empty chunk would end the response.
      if (controller.signal.aborted || text === '') return undefined
      if (text.length > PIECE_BYTES) return writeInPieces(Buffer.from(text))
      stream.lastWrite = performance.now()
      return put(text) ? undefined : block(stream)
    },
    end,
    destroy() {
      response.destroy()
    },
  }
}
