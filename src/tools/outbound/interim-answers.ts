/**
 * Informational answers (1xx) that nobody asked for (contract section 35). undici breaks the connection at 100 and 101,
 * and skips 102: these are shown to it as 102.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { Duplex } from 'node:stream'

/** The functions that begin the head of an answer, by socket. */
const beginners = new WeakMap<object, () => void>()

// Published before the first byte of a request is written.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = Object(message)
  beginners.get(socket)?.()
})

const LF = 10
const CR = 13
const [ZERO, ONE, TWO] = [48, 49, 50]
/** The places of a status's digits in `HTTP/1.1 100 Continue`. */
const [FIRST, SECOND, THIRD] = [9, 10, 11]

/** Changes what the socket reads. Bodies are not looked at. */
export function skipInterimAnswers(socket: Duplex): void {
  let isHead = true
  let at = 0
  let isZero = false
  let lineIsEmpty = false

  /** Looks at one byte of the heads before the answer, and returns it as undici may see it. */
  function seen(byte: number): number {
    const place = at
    at += 1
    if (place === FIRST && byte !== ONE) isHead = false
    if (place === SECOND) isZero = byte === ZERO
    if (byte === LF) {
      if (lineIsEmpty) at = 0
      lineIsEmpty = true
    } else if (byte !== CR) lineIsEmpty = false
    return place === THIRD && isZero && (byte === ZERO || byte === ONE) ? TWO : byte
  }

  beginners.set(socket, () => {
    isHead = true
    at = 0
    lineIsEmpty = false
  })
  const push = socket.push.bind(socket)
  socket.push = (chunk: unknown, encoding) => {
    if (chunk instanceof Uint8Array) for (let n = 0; isHead && n < chunk.length; n += 1) chunk[n] = seen(chunk[n] ?? 0)
    return push(chunk, encoding)
  }
}
