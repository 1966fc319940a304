/** A column's header that sorts by it: upwards, downwards, and as it was. */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import classes from '../blocks.module.css'
import type { Sorting } from './whole-list.ts'

interface SortButtonProps {
  header: string
  sorting: Sorting
  onSort: (header: string) => void
}

export function SortButton({ header, sorting: { by, isDescending }, onSort }: SortButtonProps) {
  const Icon = isDescending ? IconArrowDown : IconArrowUp
  return (
    <button
      type="button"
      className={classes.sort}
      title={`Sort by ${header.toLowerCase()}`}
      onClick={() => onSort(header)}
    >
      {header}
      {by === header && <Icon size={13} stroke={2} aria-hidden />}
    </button>
  )
}
