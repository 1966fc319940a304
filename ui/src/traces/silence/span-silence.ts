/** The stretches of an attempt, or of a tool call that runs, in which nothing came. Pure. */
import type { Span } from '../types.ts'
import { firstTokenOf, numberIn } from '../words.ts'
import { LEAST_MS, levelOf, type Silence } from './silence.ts'

/** The present, in milliseconds from the admission, and the silence of the reply that runs. */
export interface Present {
  ms: number
  silence: Silence | null
}

export interface SpanSilence {
  /** Milliseconds from the admission. */
  fromMs: number
  untilMs: number
  level: Silence['level']
}

/** Returns the silences of a span: before the provider's first answer, and the one that lasts or has ended the attempt. */
export function silencesOf(span: Span, spans: readonly Span[], { ms, silence }: Present): SpanSilence[] {
  const { kind, startMs, endMs, parentId, detail } = span
  if (kind !== 'attempt' && kind !== 'tool') return []
  const lasts = endMs === null && silence !== null
  const now = lasts ? [{ fromMs: Math.max(startMs, ms - silence.ms), untilMs: ms, level: silence.level }] : []
  const turn = spans.find(({ id }) => id === parentId)
  const limitMs = turn ? numberIn(turn, 'idleTimeoutMs') : null
  if (kind === 'tool' || limitMs === null) return now
  const end = endMs ?? startMs
  const isRefusal = Number(detail.status) >= 400
  const first = firstTokenOf(span) ?? (span.ok === false && !isRefusal ? end : startMs)
  // A server that answers with a timeout of its own does so sooner.
  const isGivenUp = detail.code === 'provider_timeout' && end - startMs >= limitMs && first < end
  const past = [[startMs, first] as const, ...(isGivenUp ? [[Math.max(first, end - limitMs), end] as const] : [])]
  return [
    ...past
      .filter(([fromMs, untilMs]) => untilMs - fromMs >= LEAST_MS)
      .map(([fromMs, untilMs]) => ({ fromMs, untilMs, level: levelOf(untilMs - fromMs, limitMs) })),
    ...now,
  ]
}
