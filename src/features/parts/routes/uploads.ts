/** The pictures and files that came in a request's body, and how much all requests hold of such (contract section 13). */

import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/server/http-error.ts'
import type { Through } from '../../../http/server/request-body/incoming-body.ts'
import { type Account, FREE_BYTES, tooMuchAtOnce } from '../../../http/server/request-body/shares.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { type Decoded, freePieces } from './base64.ts'
import { createDataUrlFilter, type DataUrl } from './data-urls.ts'
import { shownPaths } from './shown-url.ts'

/** Decoded bytes of one message's parts. */
export const MOST_MESSAGE_BYTES = 20 * 2 ** 20

/** Most base64 of one body. How much of it is held is limited by the account. */
const MOST_ENCODED_BYTES = 512 * 2 ** 20

/** Most data URLs of one body: each needs a decoder, a hash and a block of memory. */
const MOST_URLS = 200

/** The placeholder, in a body, of bytes that came in it. Random, so that no caller can write one. */
const placeholder = `bytes:${randomBytes(16).toString('hex')}:`
const placeholders = new RegExp(`${placeholder}(\\d+)`, 'g')

/** Fields that are taken as they are, in which a `data:` URL is a text: an example in a schema, say. */
const TEXT_FIELDS = ['tools', 'response_format', 'text', 'metadata']

export interface Uploads {
  /** Begins the uploads of a body that may hold some. */
  filter(): Through
  /** Returns what stands for this text in the body. Null when it is a text of the caller's. */
  find(text: string): DataUrl | null
  /** Returns the text with the SHA-256 of bytes instead of the words that stand for them. */
  named(text: string): string
  /**
   * Returns the text as it came, for what is no picture or file after all. Throws 400, and 413 beyond what a body may
   * hold.
   */
  restored(text: string): string
  /** Restores what TEXT_FIELDS hold in a body. Throws 400 and 413. */
  restoreFields(body: unknown): void
  /** Returns the path of a stored part of which this is the address. Null for addresses of other servers. */
  shownPath(address: string): string | null
  /** Throws 413 or 503 when the request would hold too much, or all of them. */
  hold(bytes: number): void
  /** Runs the work. While it runs, the bytes count although the request may have ended. */
  during<Result>(work: () => Promise<Result>): Promise<Result>
  /** Caches these, which are stored; no other bytes of the request are needed any more. */
  cache(stored: Iterable<Decoded>): void
  /** Hands over what was cached, once, piece by piece, each freed when the next is requested. Null when it was evicted. */
  drain(data: Decoded): AsyncIterable<Uint8Array> | null
  /** Releases all, as the request has ended. */
  release(): void
}

/** Changes each text of a value, in its place: the value's numbers keep the digits that are known of it. */
function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) for (const [index, one] of value.entries()) value[index] = withTexts(one, change)
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) value[name] = withTexts(one, change)
  return value
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null or absent when the request's body may hold none. */
    uploads?: Uploads | null
  }
}

/** Returns the uploads of an operation that is declared to take parts. */
export function requireUploads(request: FastifyRequest): Uploads {
  const { uploads } = request
  if (!uploads) throw new Error(`${request.routeOptions.url} does not take parts`)
  return uploads
}

export const takesParts = (request: FastifyRequest): boolean =>
  request.routeOptions.config.operation?.takesParts === true

/**
 * Opens a request's uploads. They are released at the latest when the answer has ended. `publicUrl`: PUBLIC_URL, null where it is
 * not set.
 */
export function openUploads(request: FastifyRequest, reply: FastifyReply, publicUrl: string | null): void {
  const { server } = request
  const uploads = createUploads(
    server.initialConfig.bodyLimit ?? 0,
    () => server.accountOf(request),
    shownPaths(request, publicUrl),
  )
  request.uploads = uploads
  reply.raw.once('close', uploads.release)
}

/**
 * Returns the uploads of one request; `maxOtherBytes`: what else its body may hold. The account is asked for when it is
 * needed. `shownPath`: see Uploads.
 */
export function createUploads(
  maxOtherBytes: number,
  accountOf: () => Account,
  shownPath: Uploads['shownPath'],
): Uploads {
  let known: Account | null = null
  const account = () => (known ??= accountOf())
  let own = 0
  let counted = 0
  let restoredBytes = 0
  const urls: DataUrl[] = []
  let isReleased = false
  let users = 0
  const cached = createCache(account)
  const hold = (bytes: number) => {
    if (isReleased && bytes > 0) throw new HttpError(400, 'The request was broken off.')
    const wanted = Math.max(0, own + bytes) // what is given back late was given back with all else
    const toCount = wanted > FREE_BYTES ? wanted : 0
    if (toCount > counted) {
      if (wanted > account().mostBytes) throw new HttpError(413, 'The pictures and files of the request are too large.')
      if (!account().hold(toCount - counted)) throw tooMuchAtOnce()
    } else if (toCount < counted) account().release(counted - toCount)
    own = wanted
    counted = toCount
  }
  const letGo = () => {
    hold(-own)
    urls.length = 0
  }
  const at = (index: string | undefined) => urls[Number(index)] ?? null
  const restored = (text: string) =>
    text.replace(placeholders, (_, index: string) => {
      const { head = '', data = 'broken' } = at(index) ?? {}
      if (data === 'broken') throw new HttpError(400, 'body: has a data: URL that is not valid base64')
      restoredBytes += data === 'too large' ? Number.POSITIVE_INFINITY : (data.size * 4) / 3
      if (restoredBytes > maxOtherBytes) throw new HttpError(413, 'The body is larger than MAX_BODY_BYTES allows.')
      return data === 'too large' ? '' : `data:${head},${Buffer.concat(data.pieces).toString('base64')}`
    })
  return {
    filter: () => filterInto(urls, maxOtherBytes, hold),
    find: (text) => (text.startsWith(placeholder) ? at(text.slice(placeholder.length)) : null),
    named: (text) =>
      text.replace(placeholders, (_, index: string) => {
        const data = at(index)?.data
        return typeof data === 'object' ? `sha256:${data.sha256}` : 'sha256:'
      }),
    restored,
    shownPath,
    restoreFields(body) {
      if (urls.length === 0 || !isObject(body)) return
      for (const name of TEXT_FIELDS) if (name in body) body[name] = withTexts(body[name], restored)
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
      letGo()
      for (const data of stored) if (isReleased || !cached.add(data)) freePieces(data)
    },
    drain: cached.drain,
    release() {
      isReleased = true
      cached.evict()
      if (users === 0) letGo()
    },
  }
}

/** Makes the filter of one body, which adds the body's data URLs to `urls`. */
function filterInto(urls: DataUrl[], maxOtherBytes: number, hold: (bytes: number) => void): Through {
  let keep: (bytes: Uint8Array) => void = () => {}
  const found = (url: DataUrl) => {
    if (urls.length >= MOST_URLS) throw new HttpError(413, `A body holds at most ${MOST_URLS} data: URLs.`)
    return `${placeholder}${urls.push(url) - 1}`
  }
  const pass = createDataUrlFilter({ maxBytes: MOST_MESSAGE_BYTES, hold, keep: (bytes) => keep(bytes), found })
  return {
    maxBytes: maxOtherBytes + MOST_ENCODED_BYTES,
    pass(chunk, keeping) {
      keep = keeping
      pass(chunk)
    },
  }
}

/**
 * Keeps what one request has stored, for the first model call. It counts on its own, and is evicted when its memory is
 * needed.
 */
function createCache(account: () => Account) {
  const cached = new Map<Decoded, { drop(): void; forget(): void }>()
  return {
    /** Returns false when there is no room. */
    add(data: Decoded): boolean {
      if (cached.has(data)) return true
      if (!account().hold(data.size)) return false
      const forgetDrop = account().cache(drop)
      function forget() {
        cached.delete(data)
        forgetDrop()
      }
      function drop() {
        forget()
        account().release(data.size)
        freePieces(data)
      }
      cached.set(data, { drop, forget })
      return true
    },
    drain(data: Decoded): AsyncIterable<Uint8Array> | null {
      const found = cached.get(data)
      if (found === undefined) return null
      found.forget()
      return drained(data, () => account().release(data.size))
    },
    evict() {
      for (const { drop } of cached.values()) drop()
    },
  }
}

async function* drained({ pieces }: Decoded, release: () => void): AsyncGenerator<Uint8Array> {
  const left = pieces.splice(0)
  try {
    for (let piece = left.shift(); piece !== undefined; piece = left.shift()) {
      yield piece
      freePieces({ pieces: [piece] })
    }
  } finally {
    release()
  }
}
