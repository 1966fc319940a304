/**
 * The interface through which provider calls reach the network: a function that makes a call, and the response that it
 * returns.
 */

import { inPieces } from '../../untrusted/pieces.ts'

/** A consumer of a body's pieces. When it returns a promise, no more is read until that resolves. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void> | undefined

export interface ProviderAnswer {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  /** The proxy that passed the answer on, or made it itself. Absent where none could. */
  readonly proxy?: string
  /**
   * Reads the body, piece by piece as the socket brings it; called once. Resolves at its end, rejects when the
   * connection breaks and when the call's signal aborts.
   */
  read(take: TakeBytes): Promise<void>
  /** Discards the body, or the rest of it. */
  cancel(): void
}

/**
 * A body whose pieces are made while they are sent. Its length is known, since some servers refuse a body without one.
 */
export interface PieceBody {
  length: number
  pieces: AsyncIterable<Uint8Array>
}

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string | PieceBody
  signal: AbortSignal
}

/**
 * A call that resolves with the response's head, whatever its status. Redirects are not followed. It rejects as fetch
 * does. The platform's fetch is not used: its streams cost more for each token than everything else between two
 * sockets.
 */
export type ProviderFetch = (url: string, init: FetchInit) => Promise<ProviderAnswer>

/** Reads the text of a body, its first `maxBytes` only; the rest is not read. Rejects when the connection breaks. */
export async function readText(answer: ProviderAnswer, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const { promise: full, resolve } = Promise.withResolvers<void>()
  const add = inPieces((piece) => {
    if (bytes >= maxBytes) return undefined
    bytes += piece.length
    text += decoder.decode(piece.subarray(0, piece.length - Math.max(0, bytes - maxBytes)), { stream: true })
    if (bytes >= maxBytes) resolve()
    return undefined
  })
  const whole = answer.read(add)
  await Promise.race([whole, full])
  if (bytes < maxBytes) return text + decoder.decode()
  whole.catch(() => {})
  answer.cancel()
  return text
}
