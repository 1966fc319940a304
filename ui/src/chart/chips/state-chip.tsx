import { Fragment } from 'react'
import classes from '../chart-page.module.css'
import { toneOf } from '../machine.ts'
import { stateName } from '../reading/words.ts'

/** A state's name in its colour. */
export function StateChip({ id }: { id: string }) {
  return (
    <span className={classes.stateChip} data-tone={toneOf(id)} title={id}>
      <i className={classes.dot} aria-hidden />
      {stateName(id)}
    </span>
  )
}

/** Breaks, where it must, before a dot. */
export function StateWord({ id }: { id: string }) {
  return id.split('.').map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {index > 0 && '.'}
      {part}
    </Fragment>
  ))
}
