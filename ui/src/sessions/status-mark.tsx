import { VisuallyHidden } from '@mantine/core'
import type { Tone } from '../chart/machine.ts'
import { statuses } from './filters-in-url.ts'
import type { SessionStatus } from './query/filters.ts'
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

/** The newest reply's status, in its colour. `isShort`: a dot alone, beside what says more. */
export function StatusMark({ status, isShort = false }: { status: SessionStatus; isShort?: boolean }) {
  return (
    <span className={classes.status} data-status={status} data-tone={tones[status]}>
      <i aria-hidden />
      {isShort ? <VisuallyHidden>{statuses[status]}</VisuallyHidden> : statuses[status]}
    </span>
  )
}
