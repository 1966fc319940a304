/** Days of a report → the bars of its plot: days without a reply are there too, and long times go by week or month. */
import type { components } from '../../../openapi/generated/schema.ts'
import { once } from '../blocks/once.ts'

type UsageReport = components['schemas']['UsageReport']
type UsageRow = components['schemas']['UsageRow']

/** `key` is the first day. */
export interface Bucket extends UsageRow {
  label: string
}

export type Step = 'day' | 'week' | 'month'

export const dayMs = 86_400_000
/** More bars could not be distinguished. */
const mostDays = 92
const mostWeeks = 92

const label = (options: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC', ...options }))
/** Weeks and months reach over more than one year. */
const labels: Record<Step, () => Intl.DateTimeFormat> = {
  day: label({ day: 'numeric' }),
  week: label({ day: 'numeric', year: '2-digit' }),
  month: label({ year: 'numeric' }),
}

/** Returns the day, `2026-01-31`, UTC. */
export const dayOf = (moment: Date | number): string => new Date(moment).toISOString().slice(0, 10)

/** Returns the first moment of the bucket that a moment lies in; weeks begin on Mondays. */
function startOf(step: Step, moment: number): number {
  const date = new Date(moment)
  const weekday = step === 'week' ? (date.getUTCDay() + 6) % 7 : 0
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), step === 'month' ? 1 : date.getUTCDate() - weekday)
}

function nextOf(step: Step, start: number): number {
  const date = new Date(start)
  if (step === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  return start + (step === 'week' ? 7 : 1) * dayMs
}

const noTokens = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
const nothing = {
  ...noTokens,
  replies: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  replays: 0,
  feedbackUp: 0,
  feedbackDown: 0,
}

/** Returns the sum of rows; `estimated` when one of them is. */
export const sumOf = (rows: readonly Omit<UsageRow, 'key'>[]) =>
  rows.reduce(
    (sum, row) => ({
      replies: sum.replies + row.replies,
      promptTokens: sum.promptTokens + row.promptTokens,
      completionTokens: sum.completionTokens + row.completionTokens,
      totalTokens: sum.totalTokens + row.totalTokens,
      cachedTokens: sum.cachedTokens + row.cachedTokens,
      cacheWriteTokens: sum.cacheWriteTokens + row.cacheWriteTokens,
      reasoningTokens: sum.reasoningTokens + row.reasoningTokens,
      estimated: sum.estimated || row.estimated,
      replays: sum.replays + row.replays,
      feedbackUp: sum.feedbackUp + row.feedbackUp,
      feedbackDown: sum.feedbackDown + row.feedbackDown,
    }),
    nothing,
  )

/**
 * Returns the buckets of a report that is grouped by day, in order. The first one begins where the report does, or
 * before its first row.
 */
export function bucketsOf({ from, to, rows }: UsageReport): { step: Step; buckets: Bucket[] } {
  const first = Date.parse(from)
  const last = Math.max(first, Date.parse(to) - 1)
  const days = (last - first) / dayMs
  const step: Step = days <= mostDays ? 'day' : days <= mostWeeks * 7 ? 'week' : 'month'
  const byStart = Map.groupBy(rows, ({ key }) => startOf(step, Date.parse(`${key}T00:00:00Z`)))
  // Years before the first reply have nothing to show.
  const begin = step === 'month' ? Math.max(startOf(step, first), Math.min(...byStart.keys())) : startOf(step, first)
  const buckets: Bucket[] = []
  for (let start = begin; start <= last; start = nextOf(step, start)) {
    buckets.push({ key: dayOf(start), label: labels[step]().format(start), ...sumOf(byStart.get(start) ?? []) })
  }
  return { step, buckets }
}
