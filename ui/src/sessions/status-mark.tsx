import { statuses } from './filters-in-url.ts'
import type { SessionStatus } from './queries.ts'
import classes from './sessions.module.css'

/** The newest reply's status, in its colour. */
export function StatusMark({ status }: { status: SessionStatus }) {
  return (
    <span className={classes.status} data-status={status}>
      <i aria-hidden />
      {statuses[status]}
    </span>
  )
}
