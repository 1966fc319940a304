/** The one client of the bench: what it saw, and when, by one monotonic clock (milliseconds). */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'

export interface Stream {
  status: number
  /** When the answer's head came. */
  at: number
  /** When the first byte of the body came. Rejects when none ever does. */
  first: Promise<number>
  /** When a `data:` line with these words came, now or before. Rejects when the stream ends without one. */
  saw(words: string): Promise<number>
  /** The whole body; resolves at its end, whatever the end. */
  body(): Promise<string>
  /** Drops the connection. */
  leave(): void
}

export interface Call {
  /** Absent: GET. */
  body?: object
  /** `Last-Event-ID`. */
  after?: number
  /** Told of each `id:` line, and when it came. */
  onId?: (id: number, at: number) => void
}

const agent = new Agent({ keepAlive: true })

/** Resolves when the answer's head has come. */
export function call(url: string, { body, after, onId = () => {} }: Call = {}): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<Stream>()
  const headers = {
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(after === undefined ? {} : { 'last-event-id': `${after}` }),
  }
  const request = httpRequest(url, { method: body ? 'POST' : 'GET', agent, headers })
  request.on('error', reject)
  request.on('response', (response) => resolve(readStream(response, onId)))
  request.end(body && JSON.stringify(body))
  return promise
}

function readStream(response: IncomingMessage, onId: (id: number, at: number) => void): Stream {
  const at = performance.now()
  const first = Promise.withResolvers<number>()
  first.promise.catch(() => {}) // most callers do not ask
  const seen: { line: string; at: number }[] = []
  const waiting = new Map<string, PromiseWithResolvers<number>>()
  let text = ''
  let lineStart = 0
  let isOver = false
  const over = new Error('The stream ended before.')

  const take = (line: string, now: number) => {
    if (line.startsWith('id: ')) onId(Number(line.slice(4)), now)
    if (!line.startsWith('data: ')) return
    seen.push({ line, at: now })
    for (const [words, { resolve }] of waiting) if (line.includes(words)) resolve(now)
  }
  response.setEncoding('utf8')
  response.on('data', (part: string) => {
    const now = performance.now()
    first.resolve(now)
    text += part
    for (let end = text.indexOf('\n', lineStart); end >= 0; end = text.indexOf('\n', lineStart)) {
      take(text.slice(lineStart, end), now)
      lineStart = end + 1
    }
  })
  response.on('error', () => {}) // `close` follows
  const closed = new Promise<void>((resolve) => response.on('close', resolve))
  closed.then(() => {
    isOver = true
    first.reject(over)
    for (const { reject } of waiting.values()) reject(over)
  })
  return {
    ...{ status: response.statusCode ?? 0, at, first: first.promise },
    saw(words) {
      const before = seen.find(({ line }) => line.includes(words))
      if (before) return Promise.resolve(before.at)
      const now = waiting.get(words) ?? Promise.withResolvers<number>()
      waiting.set(words, now)
      if (isOver) now.reject(over)
      return now.promise
    },
    body: () => closed.then(() => text),
    leave: () => void response.destroy(),
  }
}
