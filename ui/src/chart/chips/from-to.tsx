import { VisuallyHidden } from '@mantine/core'
import classes from '../chart-page.module.css'
import { StateChip } from './state-chip.tsx'

export function FromTo({ from, to }: { from: string; to: string }) {
  return (
    <span className={classes.fromTo}>
      <StateChip id={from} />
      <span aria-hidden>→</span>
      <VisuallyHidden>to</VisuallyHidden>
      <StateChip id={to} />
    </span>
  )
}
