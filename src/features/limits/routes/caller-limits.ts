/** Tells what a deploy request counts for (contract section 23), and how its answer tells of it. */
import type { Counts, CountsFor, Limits, LimitsInForce, OverLimit, RequestRate } from '../../../actors/ports/index.ts'
import { HttpError } from '../../../http/server/http-error.ts'

export interface CallerLimits {
  /** The named key that the request came with, or that its client secret was made with. Null when there is none. */
  key: { id: string; limits: Limits | null } | null
  /** Adds to the answer what is left of a minute's limit. */
  tell(rate: RequestRate): void
}

interface Agent {
  userLimits: Limits | null
}

/** Returns undefined when nothing limits the request. */
export function limitsInForce({ userLimits }: Agent, { key }: Pick<CallerLimits, 'key'>): LimitsInForce | undefined {
  if (!key?.limits && !userLimits) return undefined
  return { ...(key?.limits && { key: { id: key.id, ...key.limits } }), ...(userLimits && { user: userLimits }) }
}

/** Returns undefined when the use counts for nobody. */
export function countsOf({ userLimits }: Agent, { key }: Pick<CallerLimits, 'key'>): Counts | undefined {
  if (!key && !userLimits) return undefined
  return { ...(key && { key: key.id }), ...(userLimits && { user: true as const }) }
}

/** Returns the same for a request whose user is known. */
export function countsForUser(agent: Agent, limits: CallerLimits, user: string | null): CountsFor | undefined {
  const counts = countsOf(agent, limits)
  return counts && { key: counts.key ?? null, user: counts.user ? user : null }
}

const words: Record<keyof Limits, (most: number) => string> = {
  requestsPerMinute: (most) => `${most} requests a minute`,
  concurrentReplies: (most) => `${most} replies at a time`,
  tokensPerDay: (most) => `${most} tokens a day`,
  costPerMonth: (most) => `a cost of ${most} a month`,
}

/** Throws 429. */
export function refuseOver({ over, rate }: { over: OverLimit; rate?: RequestRate | undefined }): never {
  const { of, limit, most, wait } = over
  const isLong = limit === 'tokensPerDay' || limit === 'costPerMonth'
  throw new HttpError(429, `The limit of this ${of} is reached: ${words[limit](most)}.`, {
    'retry-after': String(Math.max(Math.ceil(wait), 1)),
    // Official clients would wait for hours.
    ...(isLong && { 'x-should-retry': 'false' }),
    ...(rate && rateHeaders(rate)),
  })
}

/** The names of the headers, which are OpenAI's. */
export const rateHeaderNames = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const

export const rateHeaders = ({
  limit,
  remaining,
  reset,
}: RequestRate): Record<(typeof rateHeaderNames)[number], string> => ({
  'x-ratelimit-limit-requests': String(limit),
  'x-ratelimit-remaining-requests': String(remaining),
  'x-ratelimit-reset-requests': durationOf(reset),
})

/** Returns `1m0s`, `59.25s`, `120ms`, as OpenAI writes it. */
function durationOf(seconds: number): string {
  const ms = Math.max(Math.round(seconds * 1000), 0)
  if (ms < 1000) return `${ms}ms`
  const minutes = Math.floor(ms / 60_000)
  const rest = `${(ms % 60_000) / 1000}s`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}
