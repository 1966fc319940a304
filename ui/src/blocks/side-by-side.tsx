import type { ReactNode } from 'react'
import classes from './forms.module.css'

/** A form, and beside it what it does: a test, a try, what was found. Below each other on small screens. */
export function SideBySide({ children, side }: { children: ReactNode; side: ReactNode }) {
  return (
    <div className={classes.sideBySide}>
      <div className={classes.mainColumn}>{children}</div>
      <div className={classes.sideColumn}>{side}</div>
    </div>
  )
}
