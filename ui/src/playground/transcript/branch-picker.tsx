import { ActionIcon, Group } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import classes from './branch-picker.module.css'

interface BranchPickerProps {
  id: string
  /** Ids of the messages in this place, itself included. */
  beside: readonly string[]
  /** Null while that is not possible. */
  onTurn: ((messageId: string) => void) | null
}

/** ‹ 2 / 3 ›: which of the messages in this place is shown. */
export function BranchPicker({ id, beside, onTurn }: BranchPickerProps) {
  const at = beside.indexOf(id)
  if (beside.length < 2 || at < 0) return null
  const arrow = (to: number, label: string, Icon: typeof IconChevronLeft) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      disabled={onTurn === null || beside[to] === undefined}
      onClick={() => onTurn?.(beside[to] ?? id)}
    >
      <Icon size={16} stroke={1.7} />
    </ActionIcon>
  )
  return (
    <Group role="group" aria-label="Branches" gap={0} wrap="nowrap" className={classes.branches ?? ''}>
      {arrow(at - 1, 'Previous branch', IconChevronLeft)}
      <span data-testid="branch">
        {at + 1} / {beside.length}
      </span>
      {arrow(at + 1, 'Next branch', IconChevronRight)}
    </Group>
  )
}
