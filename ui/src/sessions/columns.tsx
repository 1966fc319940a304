/** The columns that the list can show beside the title, and which of them are chosen: kept in this browser. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { useState } from 'react'

/**
 * The columns, in the order in which they are shown. Long words give way in a narrow list (`cqw`: its width) before it
 * scrolls.
 */
export const columns = [
  { name: 'status', label: 'Status', width: '8.5rem' },
  { name: 'error', label: 'Error', width: 'clamp(7.5rem, 13cqw, 12rem)' },
  { name: 'http', label: 'HTTP', width: '4.5rem' },
  { name: 'agent', label: 'Agent', width: 'clamp(7rem, 11cqw, 10rem)' },
  { name: 'provider', label: 'Provider', width: '9rem' },
  { name: 'model', label: 'Model', width: '10rem' },
  { name: 'user', label: 'User', width: '7.5rem' },
  { name: 'duration', label: 'Duration', width: '6.5rem' },
  { name: 'tokens', label: 'Tokens', width: '5.5rem' },
  { name: 'created', label: 'Created', width: '8rem' },
  { name: 'updated', label: 'Updated', width: '8rem' },
] as const

export type ColumnName = (typeof columns)[number]['name']

const key = 'greenroom.sessions.columns'
const usual: readonly ColumnName[] = ['status', 'error', 'http', 'agent', 'updated']

/** Returns the chosen columns, in the order of `columns`. */
export function useColumns() {
  const [chosen, setChosen] = useState(stored)
  const choose = (names: readonly string[]) => {
    localStorage.setItem(key, names.join(' '))
    setChosen(known(names))
  }
  return { chosen, choose }
}

const known = (names: readonly string[]): ColumnName[] =>
  columns.map(({ name }) => name).filter((name) => names.includes(name))

const stored = (): ColumnName[] => known(localStorage.getItem(key)?.split(' ') ?? usual)

interface ColumnsMenuProps {
  chosen: readonly ColumnName[]
  onChange: (names: readonly string[]) => void
}

export const ColumnsMenu = ({ chosen, onChange }: ColumnsMenuProps) => (
  <Popover position="bottom-end" trapFocus>
    <Popover.Target>
      <Button variant="default" leftSection={<IconColumns3 size={16} stroke={1.7} aria-hidden />}>
        Columns
      </Button>
    </Popover.Target>
    <Popover.Dropdown>
      <Checkbox.Group aria-label="Columns" value={[...chosen]} onChange={onChange}>
        <Stack gap={8}>
          {columns.map(({ name, label }) => (
            <Checkbox key={name} size="xs" value={name} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
    </Popover.Dropdown>
  </Popover>
)
