/** The line of sums of a replay. Pure. */
import { capitalized, plural, wholeNumber } from '../blocks/words.ts'
import type { Replay } from './types.ts'

/**
 * Returns its parts: how many cases are done, the verdicts, how the others ended, and what they took.
 * Counts of nothing are left out.
 */
export function sumsOf({ counts, usage, cost, createdAt, endedAt }: Omit<Replay, 'id' | 'agentId'>): string[] {
  const { total, pending, running, better, same, worse } = counts
  const left = pending + running
  const others = (['diverged', 'error', 'cancelled'] as const).filter((one) => counts[one] > 0)
  const seconds = endedAt === null ? null : (Date.parse(endedAt) - Date.parse(createdAt)) / 1_000
  return [
    left > 0 ? `${wholeNumber(total - left)} of ${plural(total, 'case')} done` : plural(total, 'case'),
    `${wholeNumber(better)} better`,
    `${wholeNumber(same)} same`,
    `${wholeNumber(worse)} worse`,
    ...others.map((one) => `${wholeNumber(counts[one])} ${one === 'error' ? 'failed' : one}`),
    `${wholeNumber(usage.promptTokens)} → ${plural(usage.completionTokens, 'token')}`,
    ...(cost === null ? [] : [costWords(cost)]),
    ...(seconds === null ? [] : [`${seconds.toFixed(1)} s`]),
  ]
}

/** Returns a cost in the currency of the prices. */
export const costWords = (cost: number): string => `cost ${cost === 0 ? '0' : cost.toPrecision(3)}`

export const versionWords = (version: number | 'draft' | null): string =>
  version === null ? 'older' : version === 'draft' ? 'draft' : `version ${version}`

export const statusWords = ({
  status,
  error,
  divergence,
}: {
  status: string
  error: { message: string } | null
  divergence: { name: string; arguments: string; position: number } | null
}): string => {
  if (error !== null) return `Failed: ${error.message}`
  if (divergence !== null)
    return `Diverged after ${plural(divergence.position, 'call')}: ${divergence.name} ${divergence.arguments} is not on record.`
  return capitalized(status)
}
