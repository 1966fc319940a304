/** One stream that is watched while it runs, for those who act on what it brings. Times are `performance.now()`. */
import { tokenReader } from '../tokens.ts'
import { type Request, send } from './request.ts'

export type Observed = {
  readonly status: number
  /** When the answer's head came. */
  readonly at: number
  /** When the first byte of the body came. Rejects when none ever does. */
  readonly first: Promise<number>
  /** When a `data:` line with these words came, now or before. Rejects when the stream ends without one. */
  saw(words: string): Promise<number>
  /** When so many tokens had come. Rejects when the stream ends with fewer. */
  tokens(count: number): Promise<number>
  /** The whole body; resolves at its end, whatever the end. */
  body(): Promise<string>
  /** Drops the connection. */
  leave(): void
}

/** Called for each `id:` line with the moment it came. */
export type OnId = (id: number, at: number) => void

/** Things that happen once each, asked for before or after. */
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

/** Resolves when the answer's head has come. */
export function observe(request: Request, onId: OnId = () => {}): Promise<Observed> {
  const { promise, resolve, reject } = Promise.withResolvers<Observed>()
  const closed = Promise.withResolvers<void>()
  const first = Promise.withResolvers<number>()
  first.promise.catch(() => {}) // most callers do not ask
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
      reject(over) // without effect once the head came
      first.reject(over)
      words.end()
      counts.end()
      closed.resolve()
    },
  })
  return promise
}
