/** Below the last message that a summary stands for: a line that opens it. */
import { IconChevronRight, IconFold } from '@tabler/icons-react'
import { useState } from 'react'
import { Copy } from '../../blocks/copy.tsx'
import type { Checkpoint } from '../queries.ts'
import classes from './summary-mark.module.css'

export function SummaryMark({ checkpoint, unfolded }: { checkpoint: Checkpoint; unfolded: Set<string> }) {
  const { id, summary, model } = checkpoint
  const [isOpen, setOpen] = useState(() => unfolded.has(id))
  return (
    <details
      className={classes.mark}
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
        if (currentTarget.open) unfolded.add(id)
        else unfolded.delete(id)
      }}
    >
      <summary>
        <IconChevronRight size={15} stroke={1.8} className={classes.fold} aria-hidden />
        <IconFold size={15} stroke={1.8} aria-hidden />
        The messages above are sent to the model as a summary
      </summary>
      {isOpen && (
        <section className={classes.text} aria-label="Summary">
          <div className={classes.about}>
            By {model}
            <Copy text={summary} label="Copy summary" />
          </div>
          <p dir="auto">{summary}</p>
        </section>
      )}
    </details>
  )
}
