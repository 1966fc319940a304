import type { ReactNode } from 'react'
import classes from '../forms/forms.module.css'

/** A form, and beside it what its record does: a test, its tools. Stacked on small screens. */
export function SideBySide({ children, side }: { children: ReactNode; side: ReactNode }) {
  return (
    <div className={classes.sideBySide}>
      <div className={classes.mainColumn}>{children}</div>
      <div className={classes.sideColumn}>{side}</div>
    </div>
  )
}
