/** How long a running reply has brought nothing, whatever it does, and when it is given up. Pure. */
import { wholeSeconds } from '../../blocks/time-words.ts'

/** The times after which a silent provider, and a whole reply, are given up, in milliseconds. */
export interface Patience {
  silenceLimitMs: number
  replyLimitMs: number
}

export interface Silence {
  ms: number
  /** The time that it may last: to the nearer of both limits. */
  limitMs: number
  /** `long` from a third of that on, `grave` from two thirds on. */
  level: 'short' | 'long' | 'grave'
  words: string
}

/** A reply that writes is silent for shorter between its words. */
export const LEAST_MS = 5_000

/**
 * Returns the silence of a reply, or null while it brings something. Times are milliseconds since 1970: of its newest
 * frame, of its beginning, and now.
 */
export function silenceOf(newest: number, began: number, now: number, patience: Patience): Silence | null {
  const ms = now - newest
  if (ms < LEAST_MS) return null
  const limitMs = Math.max(0, Math.min(patience.silenceLimitMs, began + patience.replyLimitMs - newest))
  return {
    ms,
    limitMs,
    level: levelOf(ms, limitMs),
    words: `Silent for ${wholeSeconds(ms)}, given up at ${wholeSeconds(limitMs)}`,
  }
}

/** Returns how long a silence is, beside the time that it may last. */
export const levelOf = (ms: number, limitMs: number): Silence['level'] =>
  ms * 3 >= limitMs * 2 ? 'grave' : ms * 3 >= limitMs ? 'long' : 'short'
