/** A row's name, which leads to its record: on the way the name becomes the record's heading. */
import { Link, useViewTransitionState } from 'react-router'
import classes from '../blocks.module.css'

export function RowLink({ to, children }: { to: string; children: string }) {
  const isGoing = useViewTransitionState(to)
  return (
    <Link to={to} viewTransition className={classes.rowLink}>
      <span className={isGoing ? classes.recordName : undefined}>{children}</span>
    </Link>
  )
}
