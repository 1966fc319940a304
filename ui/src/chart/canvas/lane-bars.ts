/** The notes of a running reply as bars, and when it was admitted. Pure. */
import { isNote } from '../note-words.ts'
import type { Step } from '../step.ts'

export interface LaneBar {
  key: string
  kind: 'attempt' | 'tool'
  name: string
  /** Milliseconds from the admission; `endMs` null while it runs, `firstMs` null before the first token. */
  startMs: number
  endMs: number | null
  firstMs: number | null
  ok: boolean | null
}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/**
 * Attempts and tool calls in their order; a note tells its span as far as it has come, the newest one counts. The first
 * attempt has the name of its turn.
 */
function laneBars(notes: readonly Pick<Step, 'event' | 'detail'>[]): LaneBar[] {
  const bars = new Map<string, LaneBar>()
  let turns = 0
  for (const { event, detail } of notes) {
    if (event !== 'attempt' && event !== 'tool') continue
    const key = String(detail.span)
    if (event === 'attempt' && detail.attempt === 1 && !bars.has(key)) turns += 1
    bars.set(key, {
      key,
      kind: event,
      name:
        event === 'tool' ? String(detail.name) : detail.attempt === 1 ? `turn ${turns}` : `attempt ${detail.attempt}`,
      startMs: numberIn(detail.startMs) ?? 0,
      endMs: numberIn(detail.endMs),
      firstMs: numberIn(detail.firstTokenMs),
      ok: typeof detail.ok === 'boolean' ? detail.ok : null,
    })
  }
  return [...bars.values()]
}

export interface ReplyLane {
  bars: LaneBar[]
  /** The time of the reply's first step, its admission. It may have moved since, to compact or to another instance. */
  since: string
}

/** Returns the activity of the reply in these steps, or null if they record none. */
export function laneOf(steps: readonly Step[], messageId: string | null): ReplyLane | null {
  const own = messageId === null ? [] : steps.filter((step) => step.messageId === messageId)
  const bars = laneBars(own.filter(isNote))
  const [first] = own
  return first !== undefined && bars.length > 0 ? { bars, since: first.at } : null
}
