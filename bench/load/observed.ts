/** One stream observed while it runs, for callers that react to its content. Times are `performance.now()`. */

import { type Request, send } from './request.ts'
import { tokenReader } from './tokens.ts'

export type Observed = {
  readonly status: number
  /** When the response head arrived. */
  readonly at: number
  /** When the first byte of the body arrived. Rejects if none does. */
  readonly first: Promise<number>
  /** When a `data:` line with this text arrived, now or before. Rejects if the stream ends without one. */
  saw(words: string): Promise<number>
  /** When so many tokens had arrived. Rejects if the stream ends with fewer. */
  tokens(count: number): Promise<number>
  /** The whole body; resolves when the stream ends in any way. */
  body(): Promise<string>
  /** Drops the connection. */
  leave(): void
}

/** Called for each `id:` line with its arrival time. */
export type OnId = (id: number, at: number) => void

/** One-time events that can be awaited before or after they happen. */
function moments<Key>() {
  const all = new Map<Key, PromiseWithResolvers<number>>()
  let isOver = false
  return {
    asked: () => all.keys(),
    at(key: Key, past?: number): Promise<number> {
      if (past !== undefined) return Promise.resolve(past)
      const moment = all.get(key) ?? Promise.withResolvers<number>()
      all.set(key, moment)
      if (isOver) moment.reject(new Error('The stream ended before.'))
      return moment.promise
    },
    came: (key: Key, at: number) => all.get(key)?.resolve(at),
    end() {
      isOver = true
      for (const { reject } of all.values()) reject(new Error('The stream ended before.'))
    },
  }
}

/** Resolves when the response head has arrived. */
export function observe(request: Request, onId: OnId = () => {}): Promise<Observed> {
  const { promise, resolve, reject } = Promise.withResolvers<Observed>()
  const closed = Promise.withResolvers<void>()
  const first = Promise.withResolvers<number>()
  first.promise.catch(() => {}) // most callers do not await it
  const seen: { line: string; at: number }[] = []
  const arrivals: number[] = []
  const words = moments<string>()
  const counts = moments<number>()
  const decoder = new TextDecoder()
  let [text, lineStart, now] = ['', 0, 0]
  const readTokens = tokenReader(() => {
    arrivals.push(now)
    counts.came(arrivals.length, now)
  })
  const readLine = (line: string) => {
    if (line.startsWith('id: ')) onId(Number(line.slice(4)), now)
    if (!line.startsWith('data: ')) return
    seen.push({ line, at: now })
    for (const wanted of words.asked()) if (line.includes(wanted)) words.came(wanted, now)
  }
  const leave = send(request, {
    head(status) {
      const at = performance.now()
      resolve({
        status,
        at,
        first: first.promise,
        saw: (wanted) => words.at(wanted, seen.find(({ line }) => line.includes(wanted))?.at),
        tokens: (count) => counts.at(count, arrivals[count - 1]),
        body: () => closed.promise.then(() => text),
        leave: () => leave(),
      })
    },
    data(chunk) {
      now = performance.now()
      first.resolve(now)
      readTokens(chunk)
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n', lineStart); end >= 0; end = text.indexOf('\n', lineStart)) {
        readLine(text.slice(lineStart, end))
        lineStart = end + 1
      }
    },
    end(error) {
      const over = error ?? new Error('The stream ended before.')
      reject(over) // no effect after the head arrived
      first.reject(over)
      words.end()
      counts.end()
      closed.resolve()
    },
  })
  return promise
}
