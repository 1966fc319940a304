/** Limits as they are written in a body. */
import type { Limits } from '../../../actors/ports/index.ts'

type Given = { [Name in keyof Limits]?: Limits[Name] | null | undefined }

/** Returns the given limits. Null, as a whole or inside, means no limit. Undefined stays: the field keeps its value. */
export function givenLimits(input: Given | null | undefined): Limits | null | undefined {
  if (input == null) return input
  const { requestsPerMinute, concurrentReplies, tokensPerDay, costPerMonth } = input
  const limits: Limits = {
    ...(requestsPerMinute != null && { requestsPerMinute }),
    ...(concurrentReplies != null && { concurrentReplies }),
    ...(tokensPerDay != null && { tokensPerDay }),
    ...(costPerMonth != null && { costPerMonth }),
  }
  return Object.keys(limits).length === 0 ? null : limits
}
