/**
 * A table's rows where there are many: the first ten (three on a phone), those that are searched for, and how many
 * others there are.
 */
import { TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { plural, wholeNumber } from '../../blocks/words.ts'
import classes from '../usage.module.css'

const SHOWN = 10
/** Three tables of ten alone are more than two screens of a phone. */
const SHOWN_ON_A_PHONE = 3
const PHONE = '(max-width: 48em)'

interface TopRowsProps<Row> {
  /** The most first. */
  rows: readonly Row[]
  /** The text that is searched. */
  text: (row: Row) => string
  /** "agents" */
  nouns: string
  children: (shown: readonly Row[], others: readonly Row[]) => ReactNode
}

export function TopRows<Row>({ rows, text, nouns, children }: TopRowsProps<Row>) {
  const [part, setPart] = useState('')
  const most = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ? SHOWN_ON_A_PHONE : SHOWN
  const found = rows.filter((row) => text(row).toLowerCase().includes(part.trim().toLowerCase()))
  return (
    <>
      {rows.length > most && (
        <TextInput
          type="search"
          size="xs"
          className={classes.search ?? ''}
          aria-label={`Search ${nouns}`}
          placeholder={`Search ${wholeNumber(rows.length)} ${nouns}`}
          leftSection={<IconSearch size={14} stroke={1.7} aria-hidden />}
          value={part}
          onChange={({ currentTarget }) => setPart(currentTarget.value)}
        />
      )}
      {children(found.slice(0, most), found.slice(most))}
    </>
  )
}

/** Returns `1 other`, `255 others`. */
export const otherWords = (count: number): string => plural(count, 'other')
