/** How long each state lasted, to scale, from the first step to the last. */
import { toneOf } from '../machine.ts'
import { clockTime, duration } from '../words.ts'
import styles from './replay.module.css'
import type { Moment } from './replay-moments.ts'

interface Stretch {
  from: number
  /** Percent of the whole. */
  start: number
  width: number
  state: string
}

/** Stretches in which the state stayed the same; times in milliseconds. */
function stretchesOf(moments: readonly Moment[]): { begin: number; total: number; stretches: Stretch[] } {
  const timed = moments.flatMap(({ at, state }, from) => (at === null ? [] : [{ from, at: Date.parse(at), state }]))
  const begin = timed[0]?.at ?? 0
  const total = (timed.at(-1)?.at ?? begin) - begin
  const stretches: Stretch[] = []
  for (const [place, { from, at, state }] of timed.entries()) {
    const next = timed[place + 1]
    if (next === undefined || total <= 0) break
    const width = (100 * (next.at - at)) / total
    const last = stretches.at(-1)
    if (last?.state === state) last.width += width
    else stretches.push({ from, start: (100 * (at - begin)) / total, width, state })
  }
  return { begin, total, stretches }
}

const ticks = [0, 0.25, 0.5, 0.75, 1]

export function ReplayScale({ moments, index }: { moments: readonly Moment[]; index: number }) {
  const { begin, total, stretches } = stretchesOf(moments)
  if (total <= 0) return null
  const now = moments[index]?.at
  const at = now ? (100 * (Date.parse(now) - begin)) / total : 0
  return (
    <div className={styles.scale}>
      <div className={styles.scaleBar} role="img" aria-label={`To scale: ${duration(total)} in all`}>
        {stretches.map(({ from, start, width, state }) => (
          <i
            key={from}
            data-tone={toneOf(state)}
            title={`${state}: ${duration((width * total) / 100)}`}
            style={{ left: `${start}%`, width: `max(1px, ${width}%)` }}
          />
        ))}
        <b style={{ left: `${at}%` }} />
      </div>
      <div className={styles.ticks} aria-hidden>
        {ticks.map((share) => (
          <span key={share}>
            {share === 0 ? clockTime(new Date(begin).toISOString()) : `+${duration(total * share)}`}
          </span>
        ))}
      </div>
    </div>
  )
}
