import { wholeSeconds } from '../../blocks/time-words.ts'
import classes from './silence.module.css'
import type { Silence } from './silence.ts'

/** The time in which a reply has brought nothing: grey at first, amber, then red. */
export const SilentFor = ({ silence, isShort = false }: { silence: Silence; isShort?: boolean }) => (
  <span className={classes.silence} data-level={silence.level} data-testid="silence" title={silence.words}>
    {isShort ? `silent ${wholeSeconds(silence.ms)}` : silence.words}
  </span>
)
