/** The notes of a running reply as bars. Pure. */
import type { Step } from '../queries.ts'

export interface LaneBar {
  key: string
  kind: 'attempt' | 'tool'
  name: string
  /** Milliseconds from the admission; `endMs` null while it runs, `firstMs` null before the first token. */
  startMs: number
  endMs: number | null
  firstMs: number | null
  ok: boolean | null
  /** How long an attempt may bring nothing. Null where that is not told. */
  limitMs: number | null
}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Attempts and tool calls in their order; a note tells its span as far as it has come, the newest one counts. */
export function laneBars(notes: readonly Pick<Step, 'event' | 'detail'>[]): LaneBar[] {
  const bars = new Map<string, LaneBar>()
  for (const { event, detail } of notes) {
    if (event !== 'attempt' && event !== 'tool') continue
    const key = String(detail.span)
    bars.set(key, {
      key,
      kind: event,
      name: event === 'tool' ? String(detail.name) : `attempt ${detail.attempt}`,
      startMs: numberIn(detail.startMs) ?? 0,
      endMs: numberIn(detail.endMs),
      firstMs: numberIn(detail.firstTokenMs),
      ok: typeof detail.ok === 'boolean' ? detail.ok : null,
      limitMs: numberIn(detail.idleTimeoutMs),
    })
  }
  return [...bars.values()]
}
