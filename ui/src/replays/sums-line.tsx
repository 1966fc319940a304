import { Fragment } from 'react'
import classes from './replays.module.css'
import { sumsOf } from './sums.ts'
import type { Replay } from './types.ts'

/** The sums of a replay, each of which stays in one piece. */
export const SumsLine = ({ replay }: { replay: Omit<Replay, 'id' | 'agentId'> }) =>
  sumsOf(replay).map((sum, place) => (
    <Fragment key={sum}>
      {place > 0 && ' · '}
      <span className={classes.sum}>{sum}</span>
    </Fragment>
  ))
