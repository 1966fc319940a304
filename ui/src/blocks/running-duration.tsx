import classes from './blocks.module.css'
import { wholeSeconds } from './time-words.ts'
import { useNow } from './use-now.ts'

interface RunningDurationProps {
  /** ISO 8601. */
  since: string
  /** A longer duration is conspicuous, in milliseconds. */
  lateAfterMs?: number
}

/** The time that something has lasted, counting. */
export function RunningDuration({ since, lateAfterMs }: RunningDurationProps) {
  const ms = Math.max(0, useNow() - Date.parse(since))
  return (
    <time
      className={classes.lasting}
      data-late={(lateAfterMs !== undefined && ms >= lateAfterMs) || undefined}
      dateTime={since}
    >
      {wholeSeconds(ms)}
    </time>
  )
}
