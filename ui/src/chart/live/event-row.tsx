import { timedShortId } from '../../sessions/words.ts'
import classes from '../chart-page.module.css'
import { FromTo } from '../chips/from-to.tsx'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { isNote, noteWords } from '../note-words.ts'
import { pastName } from '../reading/words.ts'
import type { Step } from '../step.ts'
import { clockTime, detailWords } from '../words.ts'
import styles from './live.module.css'

/** A step in words. `isNew`: it happened while the page was open. */
export function EventRow({ step, isNew = false }: { step: Step; isNew?: boolean }) {
  const details = isNote(step) ? [] : detailWords(step.detail)
  return (
    <li
      className={styles.event}
      data-new={isNew || undefined}
      data-seq={step.seq}
      data-note={isNote(step) || undefined}
    >
      <time dateTime={step.at} className={classes.time}>
        {clockTime(step.at)}
      </time>
      <div className={styles.what}>
        <span className={classes.eventName} title={step.event}>
          {isNote(step) ? noteWords(step) : pastName(step.event)}
        </span>
        {!isNote(step) && <FromTo from={step.from} to={step.to} />}
        <span className={styles.details}>
          {details.map((words) => (
            <code key={words}>{words}</code>
          ))}
          {step.messageId && <code title={`Reply ${step.messageId}`}>reply {timedShortId(step.messageId)}</code>}
          <InstanceChip id={step.instanceId} />
        </span>
      </div>
    </li>
  )
}
