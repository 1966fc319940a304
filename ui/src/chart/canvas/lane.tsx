/**
 * The activity of a reply while it is generated, to scale, growing: calls to the model with their first token, text,
 * tools.
 */
import { wholeSeconds } from '../../blocks/time-words.ts'
import { useNow } from '../../blocks/use-now.ts'
import { Hatch } from '../../traces/silence/hatch.tsx'
import type { Silence } from '../../traces/silence/silence.ts'
import { SilentFor } from '../../traces/silence/silent-for.tsx'
import { duration } from '../words.ts'
import classes from './lane.module.css'
import type { LaneBar } from './lane-bars.ts'

interface LaneProps {
  bars: readonly LaneBar[]
  /** The time of the reply's admission, ISO 8601. */
  since: string
  /** The moment that is shown, likewise. When absent, the lane follows the clock. */
  until?: string
  silence?: Silence | null
}

/** The newest that fit into the state. */
const MOST = 5

export function Lane({ bars, since, until, silence = null }: LaneProps) {
  const now = useNow(until === undefined)
  const told = Math.max(1, ...bars.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
  const whole = Math.max(told, (until === undefined ? now : Date.parse(until)) - Date.parse(since))
  const percent = (ms: number) => `${Math.min(100, (100 * ms) / whole)}%`
  return (
    <div className={classes.lane} data-testid="lane">
      <span className={classes.time}>
        {silence ? <SilentFor silence={silence} /> : until === undefined ? wholeSeconds(whole) : duration(whole)}
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
            {firstMs !== null && (
              <b
                style={{
                  left: percent(firstMs),
                  width: percent(Math.max(0, (endMs ?? whole - (silence?.ms ?? 0)) - firstMs)),
                }}
              />
            )}
            {silence !== null && endMs === null && (
              <Hatch level={silence.level} left={percent(whole - silence.ms)} width={percent(silence.ms)} />
            )}
          </span>
        </span>
      ))}
    </div>
  )
}
