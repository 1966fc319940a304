import classes from './silence.module.css'
import type { Silence } from './silence.ts'

interface HatchProps {
  level: Silence['level']
  /** The place on the bar, as CSS lengths. */
  left: string
  width: string
}

/** A stretch of a bar in which nothing came. */
export const Hatch = ({ level, left, width }: HatchProps) => (
  <s className={classes.hatch} data-level={level} style={{ left, width }} />
)
