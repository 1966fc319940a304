/** The token of a page, which its own backend makes and which expires: renewed ahead of time, and once at a time. */
import { ApiError, ConnectionError } from '../errors.ts'

/** A client secret, fresh or not: asked for again when the last one is about to expire, or was refused as expired. */
export type TokenSource = () => Promise<string> | string

export interface Tokens {
  /** Rejects with `ConnectionError` when the source does, with its own `ApiError`, and with the signal's reason. */
  current(signal: AbortSignal | undefined): Promise<string>
  /** Discards a token that was refused: the next call requests another one. */
  drop(token: string): void
}

/** The time before its end when a token counts as used up: a quarter of its life at most. */
const aheadMs = 30_000

interface Held {
  token: string
  /** Milliseconds of `performance.now`. */
  renewAt: number
  endsAt: number
}

export function createTokens(source: TokenSource): Tokens {
  let held: Held | null = null
  let asking: Promise<Held> | null = null

  async function ask(): Promise<Held> {
    // Measured before the request: the time of the answer counts against the token's life.
    const askedAt = performance.now()
    const token = await source()
    const lifeMs = lifetimeOf(token) ?? Number.POSITIVE_INFINITY
    const renewAt = askedAt + lifeMs - Math.min(aheadMs, lifeMs / 4)
    held = { token, renewAt, endsAt: askedAt + lifeMs }
    return held
  }

  async function current(): Promise<string> {
    if (held !== null && performance.now() < held.renewAt) return held.token
    asking ??= ask().finally(() => {
      asking = null
    })
    try {
      return (await asking).token
    } catch (error) {
      if (held !== null && performance.now() < held.endsAt) return held.token
      if (error instanceof ApiError || error instanceof ConnectionError) throw error
      throw new ConnectionError('There is no token.', { cause: error })
    }
  }

  return {
    current: (signal) => (signal === undefined ? current() : untilAborted(current(), signal)),
    drop(token) {
      if (held?.token === token) held = null
    },
  }
}

/**
 * Returns the milliseconds from the token's creation to its end, as the token itself says, or null when it does not
 * say. This machine's clock is not used, since it may be wrong by hours.
 */
function lifetimeOf(token: string): number | null {
  try {
    const payload = token.split('.')[1] ?? ''
    const { iat, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    return exp > iat ? (exp - iat) * 1000 : null
  } catch {
    return null
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = withReject()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Returns a promise with its `reject`. `Promise.withResolvers` is missing in Node.js 20. */
function withReject(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<never>((_, no) => {
    reject = no
  })
  return { promise, reject }
}
