/** The pictures and files that came in a request's body, and how much all requests hold of such (contract section 13). */

import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../untrusted/is-object.ts'
import { HttpError } from '../server/http-error.ts'
import { type Through, tooMuchAtOnce } from '../server/incoming-body.ts'
import { type Decoded, freePieces } from './base64.ts'
import { createDataUrlFilter, type DataUrl } from './data-urls.ts'

/** Decoded bytes of one message's parts. */
export const MOST_MESSAGE_BYTES = 20 * 2 ** 20

/** Of one body, whatever it makes of them: each takes a decoder, a hash and a block of memory. */
const MOST_URLS = 200

/** What all requests of this process hold together. */
const MOST_HELD_BYTES = 256 * 2 ** 20

let held = 0

/** Cache of stored bytes for the first model call, evicted when new uploads need the memory. */
const evictable = new Set<() => void>()

/** Stands in a body for bytes that came in it. Random, so that no caller can write one. */
const word = `bytes:${randomBytes(16).toString('hex')}:`
const words = new RegExp(`${word}(\\d+)`, 'g')

/** Fields that go to the model as they are, in which a `data:` URL is a text: an example in a schema, say. */
const TEXT_FIELDS = ['tools', 'response_format']

export interface Uploads {
  /** Begins the uploads of a body that may hold some. */
  filter(): Through
  /** What stands for this text in the body. Null when it is a text of the caller's. */
  find(text: string): DataUrl | null
  /** The text with the SHA-256 of bytes instead of the words that stand for them. */
  named(text: string): string
  /** The text as it came, for what is no picture or file after all. Throws 400, and 413 beyond what a body may hold. */
  restored(text: string): string
  /** Restores what TEXT_FIELDS hold in a body. Throws 400 and 413. */
  restoreFields(body: unknown): void
  /** Throws 413 or 503 when the request would hold too much, or all of them. */
  hold(bytes: number): void
  /** While this runs, the bytes count although the request may have ended. */
  during<Result>(work: () => Promise<Result>): Promise<Result>
  /** Caches these, which are stored; no other bytes of the request are needed any more. */
  cache(stored: Iterable<Decoded>): void
  /** Hands over what was cached, once, piece by piece, each freed when the next is requested. Null when it was evicted. */
  drain(data: Decoded): AsyncIterable<Uint8Array> | null
  /** The request has ended. */
  release(): void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null or absent when the request's body may hold none. */
    uploads?: Uploads | null
  }
}

/** The uploads of an operation that is declared to take parts. */
export function requireUploads(request: FastifyRequest): Uploads {
  const { uploads } = request
  if (!uploads) throw new Error(`${request.routeOptions.url} does not take parts`)
  return uploads
}

export const takesParts = (request: FastifyRequest): boolean =>
  request.routeOptions.config.operation?.takesParts === true

/** They are released at the latest when the answer has ended. */
export function openUploads(request: FastifyRequest, reply: FastifyReply): void {
  const uploads = createUploads(request.server.initialConfig.bodyLimit ?? 0)
  request.uploads = uploads
  reply.raw.once('close', uploads.release)
}

/** The uploads of one request; `maxOtherBytes`: what else its body may hold. */
export function createUploads(maxOtherBytes: number): Uploads {
  let own = 0
  let restoredBytes = 0
  const urls: DataUrl[] = []
  let isReleased = false
  let users = 0
  const cached = createCache()
  const hold = (bytes: number) => {
    if (held + bytes > MOST_HELD_BYTES) for (const drop of evictable) drop()
    if (isReleased && bytes > 0) throw new HttpError(400, 'The request was broken off.')
    if (own + bytes > MOST_HELD_BYTES) throw new HttpError(413, 'The pictures and files of the request are too large.')
    if (held + bytes > MOST_HELD_BYTES) throw tooMuchAtOnce()
    const counted = Math.max(bytes, -own) // what is given back late was given back with all else
    own += counted
    held += counted
  }
  const letGo = () => {
    held -= own
    own = 0
    urls.length = 0
  }
  const at = (index: string | undefined) => urls[Number(index)] ?? null
  const restored = (text: string) =>
    text.replace(words, (_, index: string) => {
      const { head = '', data = 'broken' } = at(index) ?? {}
      if (data === 'broken') throw new HttpError(400, 'body: has a data: URL that is not valid base64')
      restoredBytes += data === 'too large' ? Number.POSITIVE_INFINITY : (data.size * 4) / 3
      if (restoredBytes > maxOtherBytes) throw new HttpError(413, 'The body is larger than MAX_BODY_BYTES allows.')
      return data === 'too large' ? '' : `data:${head},${Buffer.concat(data.pieces).toString('base64')}`
    })
  return {
    filter: () => filterInto(urls, maxOtherBytes, hold),
    find: (text) => (text.startsWith(word) ? at(text.slice(word.length)) : null),
    named: (text) =>
      text.replace(words, (_, index: string) => {
        const data = at(index)?.data
        return typeof data === 'object' ? `sha256:${data.sha256}` : 'sha256:'
      }),
    restored,
    restoreFields(body) {
      if (urls.length === 0 || !isObject(body)) return
      for (const name of TEXT_FIELDS) {
        const text = JSON.stringify(body[name] ?? null)
        if (!text.includes(word)) continue
        body[name] = JSON.parse(text, (_, one: unknown) => (typeof one === 'string' ? restored(one) : one))
      }
    },
    hold,
    async during(work) {
      users += 1
      try {
        return await work()
      } finally {
        users -= 1
        if (isReleased && users === 0) letGo()
      }
    },
    cache(stored) {
      for (const data of stored) {
        if (isReleased) freePieces(data)
        else if (cached.add(data)) own -= data.size
      }
      letGo()
    },
    drain: cached.drain,
    release() {
      isReleased = true
      cached.evict()
      if (users === 0) letGo()
    },
  }
}

/** For one body, whose URLs are added to these. */
function filterInto(urls: DataUrl[], maxOtherBytes: number, hold: (bytes: number) => void): Through {
  let keep: (bytes: Uint8Array) => void = () => {}
  const found = (url: DataUrl) => {
    if (urls.length >= MOST_URLS) throw new HttpError(413, `A body holds at most ${MOST_URLS} data: URLs.`)
    return `${word}${urls.push(url) - 1}`
  }
  const pass = createDataUrlFilter({ maxBytes: MOST_MESSAGE_BYTES, hold, keep: (bytes) => keep(bytes), found })
  return {
    maxBytes: maxOtherBytes + 2 * MOST_HELD_BYTES,
    pass(chunk, keeping) {
      keep = keeping
      pass(chunk)
    },
  }
}

/** What one request has stored. It counts on its own. */
function createCache() {
  const cached = new Map<Decoded, () => void>()
  const forget = (data: Decoded, drop: () => void) => {
    cached.delete(data)
    evictable.delete(drop)
  }
  return {
    /** False when it is there. */
    add(data: Decoded): boolean {
      if (cached.has(data)) return false
      const drop = () => {
        forget(data, drop)
        held -= data.size
        freePieces(data)
      }
      cached.set(data, drop)
      evictable.add(drop)
      return true
    },
    drain(data: Decoded): AsyncIterable<Uint8Array> | null {
      const drop = cached.get(data)
      if (drop === undefined) return null
      forget(data, drop)
      return drained(data)
    },
    evict() {
      for (const drop of cached.values()) drop()
    },
  }
}

async function* drained({ size, pieces }: Decoded): AsyncGenerator<Uint8Array> {
  const left = pieces.splice(0)
  try {
    for (let piece = left.shift(); piece !== undefined; piece = left.shift()) {
      yield piece
      freePieces({ pieces: [piece] })
    }
  } finally {
    held -= size
  }
}

/** What is held now, in bytes, for tests. */
export const heldByParts = (): number => held
