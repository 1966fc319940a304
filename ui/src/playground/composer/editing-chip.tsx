import { CloseButton } from '@mantine/core'
import classes from './composer.module.css'

/** Says that what is written takes the place of an earlier message. */
export const EditingChip = ({ onCancel }: { onCancel: () => void }) => (
  <ul className={classes.chips} aria-label="Editing">
    <li className={classes.chip}>
      <span>Editing an earlier message: it and its replies stay as a branch</span>
      <CloseButton size={20} iconSize={13} aria-label="Send as a new message instead" onClick={onCancel} />
    </li>
  </ul>
)
