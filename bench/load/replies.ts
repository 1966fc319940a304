/** Requests replies with limited concurrency and times their tokens. */

import type { Ask } from '../runner/contender.ts'
import { nowUs } from './clock.ts'
import { send } from './request.ts'
import { type Quantiles, samples } from './samples.ts'
import { tokenReader } from './tokens.ts'

export type RepliesJob = {
  readonly asks: readonly Ask[]
  /** Tokens that each reply must contain. */
  readonly tokens: number
  /** Concurrency: each slot sends its next request as soon as its reply has ended. */
  readonly slots: number
  /** Time over which the slots' first requests are spread. */
  readonly staggerMs?: number
  /** No reply is started after this. */
  readonly untilMs?: number
  /** Only tokens that arrive in it count; all by default. Times of the machine's clock. */
  readonly window?: { readonly fromUs: number; readonly toUs: number }
}

export type Replies = {
  replies: number
  /** Counted tokens. */
  tokens: number
  /** Time from the first request to the last response. */
  seconds: number
  /** Failed replies and the first different reasons. They are excluded from all figures. */
  failed: number
  failures: string[]
  /** Milliseconds from the request to its first token. */
  firstMs: Quantiles
  /** Time from the model's write of a token to its arrival. */
  tokenMs: Quantiles
  /** Time from the request to the last token. */
  replyMs: Quantiles
}

type Timed = { sentAt: number; arrivals: number[]; delays: number[] }

/** Rejects with the reason if the reply is incomplete. */
function timeReply(ask: Ask, tokens: number): Promise<Timed> {
  const { promise, resolve, reject } = Promise.withResolvers<Timed>()
  const timed: Timed = { sentAt: nowUs(), arrivals: [], delays: [] }
  let now = 0
  let status = 0
  let words = ''
  const read = tokenReader((sent) => {
    timed.arrivals.push(now)
    timed.delays.push(now - sent)
  })
  const listener = {
    head: (code: number) => {
      status = code
    },
    data: (chunk: Buffer) => {
      now = nowUs()
      read(chunk)
      if (words.length < 300 && (status !== 200 || timed.arrivals.length === 0)) words += chunk.toString()
    },
    end: (error?: Error) => {
      const isWhole = !error && status === 200 && timed.arrivals.length === tokens
      if (isWhole) resolve(timed)
      else reject(new Error(`${status}, ${timed.arrivals.length} tokens, ${error ?? words.slice(0, 300)}`))
    },
  }
  if (!ask.follow) {
    send(ask, listener)
    return promise
  }
  const { follow } = ask
  send(ask, {
    head: (code) => (code === 200 ? void send(follow, listener) : reject(new Error(`${code} to the message`))),
    end: (error) => error && reject(error),
  })
  return promise
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function loadReplies(job: RepliesJob): Promise<Replies> {
  const [firstMs, tokenMs, replyMs] = [samples(), samples(), samples()]
  const failures = new Set<string>()
  let [replies, tokens, failed, next] = [0, 0, 0, 0]
  const begin = nowUs()
  const deadline = begin + (job.untilMs ?? Number.POSITIVE_INFINITY) * 1000
  const { fromUs, toUs } = job.window ?? { fromUs: 0, toUs: Number.POSITIVE_INFINITY }
  const note = ({ sentAt, arrivals, delays }: Timed) => {
    replies++
    firstMs.add(((arrivals[0] ?? sentAt) - sentAt) / 1000)
    replyMs.add(((arrivals.at(-1) ?? sentAt) - sentAt) / 1000)
    for (const [at, delay] of delays.entries()) {
      const arrival = arrivals[at] ?? 0
      if (arrival < fromUs || arrival >= toUs) continue
      tokens++
      tokenMs.add(delay / 1000)
    }
  }
  let ranOut = false
  const slot = async (n: number) => {
    await pause(((job.staggerMs ?? 0) * n) / job.slots)
    for (;;) {
      if (nowUs() > deadline) return
      const ask = job.asks[next++]
      if (!ask) {
        ranOut ||= job.window !== undefined && nowUs() < job.window.toUs
        return
      }
      await timeReply(ask, job.tokens).then(note, (error: Error) => {
        failed++
        if (failures.size < 3) failures.add(error.message)
      })
    }
  }
  await Promise.all(Array.from({ length: job.slots }, (_, n) => slot(n)))
  if (ranOut) throw new Error(`${job.asks.length} sessions are too few: concurrency fell before the end of the window.`)
  return {
    replies,
    tokens,
    failed,
    failures: [...failures],
    seconds: (nowUs() - begin) / 1e6,
    firstMs: firstMs.quantiles(),
    tokenMs: tokenMs.quantiles(),
    replyMs: replyMs.quantiles(),
  }
}
