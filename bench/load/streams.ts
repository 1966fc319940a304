/** Streams that only read: held open, or many on one reply. */
import { connect } from 'node:net'
import { nowUs } from './clock.ts'
import { type Request, send } from './request.ts'
import { type Quantiles, samples } from './samples.ts'
import { tokenReader } from './tokens.ts'

export type StreamsJob = {
  readonly requests: readonly Request[]
  /** The number of tokens after which each stream counts as open; 0: its head. They stay open until `release`. */
  readonly tokens: number
  /** Additional connections that send these requests and read nothing. */
  readonly stalled?: readonly Request[]
  /** The number opened at a time; all at once by default. */
  readonly slots?: number
}

export type Streams = {
  /** Milliseconds from the request to the first byte of the body and to the last token; per token, once all are open. */
  firstMs: Quantiles
  allMs: Quantiles
  tokenMs: Quantiles
  tokens: number
}

const open = new Set<() => void>()

export function releaseStreams(): void {
  for (const leave of open) leave()
  open.clear()
}

/** Opens a connection that sends its request and reads nothing. */
function stall({ url, headers }: Request): void {
  const { hostname, port, pathname, search } = new URL(url)
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('')}\r\n`)
  open.add(() => socket.destroy())
}

export async function openStreams(job: StreamsJob): Promise<Streams> {
  const [firstMs, allMs, tokenMs] = [samples(), samples(), samples()]
  let tokens = 0
  for (const request of job.stalled ?? []) stall(request)
  let waiting = job.requests.length
  let allOpenAt = Number.POSITIVE_INFINITY
  const openOne = (request: Request) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = nowUs()
    let [now, mine, hasBegun, status] = [0, 0, false, 0]
    const read = tokenReader((sent) => {
      tokens++
      if (sent > allOpenAt) tokenMs.add((now - sent) / 1000)
      if (++mine !== job.tokens) return
      allMs.add((now - begin) / 1000)
      resolve()
    })
    const leave = send(request, {
      head(code) {
        status = code
        if (--waiting === 0) allOpenAt = nowUs()
        if (code !== 200) reject(new Error(`A stream was answered with ${code}.`))
        else if (job.tokens === 0) resolve()
      },
      data(chunk) {
        now = nowUs()
        if (!hasBegun) firstMs.add((now - begin) / 1000)
        hasBegun = true
        read(chunk)
      },
      end: (error) => reject(new Error(`A stream ended after ${mine} tokens: ${error ?? status}`)),
    })
    open.add(leave)
    return promise
  }
  let next = 0
  const slot = async () => {
    for (let request = job.requests[next++]; request; request = job.requests[next++]) await openOne(request)
  }
  await Promise.all(Array.from({ length: job.slots ?? job.requests.length }, slot))
  return { firstMs: firstMs.quantiles(), allMs: allMs.quantiles(), tokenMs: tokenMs.quantiles(), tokens }
}
