/** Reads a request's body into memory, within the limits of contract section 18. */
import type { FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

/** What the bodies that are still arriving may hold together, in this process: 32 of the largest by default. */
const MOST_HELD_BYTES = 128 * 2 ** 20
const FIRST_BYTES = 64 * 1024

let heldBytes = 0

/** Event on the raw request: it did not arrive in time (slow-requests.ts). A listener answers it. */
export const LATE = 'greenroom:late'

/** What is done with a body besides reading it. */
export interface Through {
  /** Longest body at all, in bytes: the route's limit is for what is kept of it. */
  maxBytes: number
  /** Takes a chunk, which is emptied afterwards, and hands on what is kept of it. May throw. */
  pass(chunk: Buffer, keep: (bytes: Uint8Array) => void): void
}

/**
 * The whole body, or what `through` keeps of it. Rejects with `HttpError`: 413 beyond the route's limit, 415 for a body that is compressed, 408 when it
 * came too slowly, 503 while too much is arriving at once, 400 when its end is missing.
 */
export async function readBody(request: FastifyRequest, through?: Through): Promise<Buffer> {
  refuseEncodings(request)
  const limit = request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > (through?.maxBytes ?? limit)) throw tooLarge(limit, request)
  const { raw } = request
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const body = growingBuffer(Math.min(announced || FIRST_BYTES, FIRST_BYTES), limit)
  const keep = (bytes: Uint8Array) => {
    if (body.length() + bytes.length > limit) throw tooLarge(limit, request)
    if (!body.append(bytes)) throw tooMuchAtOnce()
  }
  let arrived = 0
  const onData = (chunk: Buffer) => {
    try {
      arrived += chunk.length
      if (through === undefined) keep(chunk)
      else if (arrived > through.maxBytes) throw tooLarge(limit, request)
      else {
        through.pass(chunk, keep)
        free(chunk)
      }
    } catch (error) {
      raw.off('data', onData)
      reject(error)
    }
  }
  const onEnd = () => {
    raw.off('close', onBroken) // follows at once: an error for each request cost 15 µs
    resolve(body.bytes())
  }
  const onBroken = () => reject(new HttpError(400, 'The body is not as long as Content-Length says.'))
  const onLate = () => reject(new HttpError(408, 'The request did not arrive in time.'))
  raw.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken).on(LATE, onLate)
  try {
    return await promise
  } finally {
    raw.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken).off(LATE, onLate)
    raw.resume() // what still comes is discarded
    body.release()
  }
}

/**
 * Gives a chunk's memory back now, not when it is collected: what lies beside the heap brings major collections about.
 * Node has copied it into a buffer of its own.
 */
function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}

/** One buffer: kept as they come, four million chunks of one byte would be 1 GB. */
function growingBuffer(firstBytes: number, limit: number) {
  let buffer = Buffer.alloc(0)
  let length = 0
  const makeRoom = (wanted: number): boolean => {
    const capacity = Math.min(limit, Math.max(wanted, buffer.length * 2, firstBytes))
    const added = capacity - buffer.length
    // A body that fits alone is never refused because of its own size.
    if (heldBytes + added > Math.max(MOST_HELD_BYTES, limit)) return false
    heldBytes += added
    const grown = Buffer.allocUnsafe(capacity)
    buffer.copy(grown, 0, 0, length)
    buffer = grown
    return true
  }
  return {
    length: () => length,
    /** False when the bodies that arrive hold too much together. */
    append(chunk: Uint8Array): boolean {
      if (length + chunk.length > buffer.length && !makeRoom(length + chunk.length)) return false
      buffer.set(chunk, length)
      length += chunk.length
      return true
    },
    bytes: () => buffer.subarray(0, length),
    release() {
      heldBytes -= buffer.length
      buffer = Buffer.alloc(0)
    },
  }
}

/** More than may be held now: a client may come again. */
export const tooMuchAtOnce = () =>
  new HttpError(503, 'Too many request bodies are arriving at the moment.', { 'retry-after': '2' })

function refuseEncodings({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return
  const given = JSON.stringify(encoding.slice(0, 100))
  // RFC 9110, 15.5.16: with 415 `Accept-Encoding` says what would be taken.
  throw new HttpError(415, `Content-Encoding: bodies are not taken compressed, not ${given}.`, {
    'accept-encoding': 'identity',
  })
}

const sizeWords = (bytes: number): string => {
  const [unit, name] = bytes % 2 ** 20 === 0 ? [2 ** 20, 'MiB'] : bytes % 1024 === 0 ? [1024, 'KiB'] : [1, 'bytes']
  return `${bytes / unit} ${name}`
}

function tooLarge(limit: number, { server }: FastifyRequest): HttpError {
  const ofServer = limit === server.initialConfig.bodyLimit
  const most = ofServer ? 'MAX_BODY_BYTES allows' : `the ${sizeWords(limit)} that are taken here`
  return new HttpError(413, `The body is larger than ${most}.`)
}
