/** The limit of a key that is nearest to being reached. Pure. */
import type { components } from '../../../openapi/generated/schema.ts'

type Schemas = components['schemas']

export interface NearestLimit {
  /** Of the limit, from 0 on. */
  share: number
  name: string
}

/** Returns the limit of which most is used. Null for a key without limits. */
export function nearestLimit(limits: Schemas['Key']['limits'], use: Schemas['KeyUse']): NearestLimit | null {
  const pairs = [
    ['requests per minute', use.requestsLastMinute, limits?.requestsPerMinute],
    ['concurrent replies', use.runningReplies, limits?.concurrentReplies],
    ['tokens per day', use.tokensToday, limits?.tokensPerDay],
    ['cost per month', use.costThisMonth, limits?.costPerMonth],
  ] as const
  const shares = pairs.flatMap(([name, used, most]) => (most === undefined ? [] : [{ name, share: used / most }]))
  return shares.sort((a, b) => b.share - a.share)[0] ?? null
}
