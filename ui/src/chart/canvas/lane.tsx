/**
 * The activity of a reply while it is generated, to scale, growing: calls to the model with their first token, text,
 * tools.
 */
import { wholeSeconds } from '../../blocks/time-words.ts'
import { useNow } from '../../blocks/use-now.ts'
import { silenceAfter } from '../../traces/words.ts'
import classes from './lane.module.css'
import type { LaneBar } from './lane-bars.ts'

interface LaneProps {
  bars: readonly LaneBar[]
  /** The time of the reply's admission, ISO 8601. */
  since: string
  /** The moment that is shown, likewise. When absent, the lane follows the clock. */
  until?: string
}

/** Returns how long an attempt has brought nothing, or null while it brings output. */
function silenceIn(bars: readonly LaneBar[], whole: number) {
  const last = bars.at(-1)
  if (last?.kind !== 'attempt' || last.endMs !== null || last.firstMs !== null) return null
  return silenceAfter(whole - last.startMs, last.limitMs)
}

/** The newest that fit into the state. */
const MOST = 5

export function Lane({ bars, since, until }: LaneProps) {
  const now = useNow(until === undefined)
  const told = Math.max(1, ...bars.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
  const whole = Math.max(told, (until === undefined ? now : Date.parse(until)) - Date.parse(since))
  const percent = (ms: number) => `${Math.min(100, (100 * ms) / whole)}%`
  const silence = until === undefined ? silenceIn(bars, whole) : null
  return (
    <div className={classes.lane} data-testid="lane">
      <span className={classes.time} data-late={silence?.isLong || undefined}>
        {silence?.words ?? wholeSeconds(whole)}
      </span>
      {bars.slice(-MOST).map(({ key, kind, name, startMs, endMs, firstMs, ok }) => (
        <span key={key} className={classes.row} data-kind={kind}>
          <span className={classes.name}>{name}</span>
          <span className={classes.track}>
            <i
              data-running={endMs === null || undefined}
              data-bad={ok === false || undefined}
              style={{ left: percent(startMs), width: percent((endMs ?? whole) - startMs) }}
            />
            {firstMs !== null && <b style={{ left: percent(firstMs), width: percent((endMs ?? whole) - firstMs) }} />}
          </span>
        </span>
      ))}
    </div>
  )
}
