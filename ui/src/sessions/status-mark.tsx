import type { Tone } from '../chart/machine.ts'
import { statuses } from './filters-in-url.ts'
import type { SessionStatus } from './queries.ts'
import classes from './sessions.module.css'

/** The colours of the state chart: its states have other names. */
export const tones = {
  idle: 'idle',
  streaming: 'busy',
  waiting: 'waiting',
  complete: 'good',
  error: 'bad',
  cancelled: 'stopped',
} as const satisfies Record<SessionStatus, Tone>

/** The newest reply's status, in its colour. */
export function StatusMark({ status }: { status: SessionStatus }) {
  return (
    <span className={classes.status} data-status={status} data-tone={tones[status]}>
      <i aria-hidden />
      {statuses[status]}
    </span>
  )
}
