/** Reads a request's body into memory, within the limits of contract section 18. */
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../http-error.ts'
import { type Account, FREE_BYTES, tooMuchAtOnce } from './shares.ts'

/** Event on the raw request: it did not arrive in time (slow-requests.ts). A listener answers it. */
export const LATE = 'greenroom:late'

/** The work that is done with a body besides reading it. */
export interface Through {
  /** Longest body at all, in bytes: the route's limit is for what is kept of it. */
  maxBytes: number
  /** Takes a chunk, which is emptied afterwards, and hands on what is kept of it. May throw. */
  pass(chunk: Buffer, keep: (bytes: Uint8Array) => void): void
}

/**
 * Returns the whole body, or what `through` keeps of it. Rejects with `HttpError`: 413 beyond the route's limit, 415
 * for a body that is compressed, 408 when it came too slowly, 503 while too much is arriving at once, 400 when its end
 * is missing.
 */
export async function readBody(request: FastifyRequest, through?: Through): Promise<Buffer> {
  refuseEncodings(request)
  const limit = request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > (through?.maxBytes ?? limit)) throw tooLarge(limit, request)
  const { raw } = request
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const body = growingBuffer(limit, () => request.server.accountOf(request))
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

/**
 * Collects chunks in one buffer: kept as they come, four million chunks of one byte would be 1 GB. It grows with what
 * has arrived: what is announced costs its sender nothing.
 */
function growingBuffer(limit: number, accountOf: () => Account) {
  let buffer = Buffer.alloc(0)
  let length = 0
  let account: Account | null = null
  const makeRoom = (wanted: number): boolean => {
    const isFree = wanted <= FREE_BYTES
    // Room that it may never need must not make a small body count.
    const capacity = Math.min(isFree ? FREE_BYTES : limit, Math.max(wanted, buffer.length * 2))
    if (!isFree) {
      const counted = account === null ? 0 : buffer.length
      account ??= accountOf()
      if (!account.hold(capacity - counted)) {
        account.release(counted)
        account = null
        return false
      }
    }
    const grown = Buffer.allocUnsafe(capacity)
    buffer.copy(grown, 0, 0, length)
    buffer = grown
    return true
  }
  return {
    length: () => length,
    /** Returns false when too much is held. */
    append(chunk: Uint8Array): boolean {
      if (length + chunk.length > buffer.length && !makeRoom(length + chunk.length)) return false
      buffer.set(chunk, length)
      length += chunk.length
      return true
    },
    bytes: () => buffer.subarray(0, length),
    release() {
      account?.release(buffer.length)
      account = null
      buffer = Buffer.alloc(0)
    },
  }
}

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
