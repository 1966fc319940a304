/** A moment of a reply in its trace. Pure. */
import { isRunning } from '../chart/machine.ts'
import type { Moment } from '../chart/replay/replay-moments.ts'
import type { Trace } from '../traces/types.ts'

/** Returns how far into the reply a moment is, and the span that it is about: its own, else the one that runs then. */
export function cursorOf(moment: Moment | undefined, trace: Trace): { ms: number; span: string | null } | undefined {
  if (moment?.at == null) return undefined
  const ms = Math.max(0, Date.parse(moment.at) - Date.parse(trace.startedAt))
  const { step, tool, state } = moment
  const has = (id: unknown) => trace.spans.find((span) => span.id === id)?.id
  const ofTool = tool && trace.spans.find(({ detail }) => detail.callId === tool.id)?.id
  const ofNote = step?.kind === 'note' && !tool ? has(step.detail.span) : undefined
  const attempts = trace.spans.filter(({ kind }) => kind === 'attempt')
  const atEnd = isRunning(state) ? null : (attempts.findLast(({ ok }) => state !== 'error' || ok === false)?.id ?? null)
  const running = trace.spans.findLast(
    ({ startMs, endMs }) => startMs <= ms && (endMs ?? Number.POSITIVE_INFINITY) >= ms,
  )
  return { ms, span: ofTool ?? ofNote ?? atEnd ?? running?.id ?? null }
}
