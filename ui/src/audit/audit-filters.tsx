import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { DateField } from '../blocks/forms/date-field.tsx'
import classes from './audit.module.css'
import type { useAuditFilters } from './filters-in-url.ts'
import { kinds } from './words.ts'

type Filters = ReturnType<typeof useAuditFilters>

export function AuditFilters({ paging, shown, isFiltered, setFilter, clear }: Filters) {
  const [cleared, setCleared] = useState(0)
  return (
    // Begun anew once they are cleared: what was changed a moment before is not told any more.
    <search key={cleared} className={classes.filters} aria-label="Filter the audit">
      <Typed label="Search by name or id" value={paging.q} onSettled={paging.setQ} />
      <Typed label="Who" value={shown('actor')} onSettled={(text) => setFilter('actor', text)} />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        clearable
        clearButtonProps={{ 'aria-label': 'Any kind' }}
        data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
        value={shown('kind') || null}
        onChange={(value) => setFilter('kind', value)}
      />
      {(['from', 'to'] as const).map((end) => (
        <DateField
          key={end}
          type="date"
          label={end === 'from' ? 'From' : 'To'}
          isNamed
          value={shown(end)}
          onSettled={(day) => setFilter(end, day)}
        />
      ))}
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() => {
            setCleared((before) => before + 1)
            clear()
          }}
        >
          Clear
        </Button>
      )}
    </search>
  )
}

/** Passes its text on once nothing was typed for a moment. */
function Typed({ label, value, onSettled }: { label: string; value: string; onSettled: (text: string) => void }) {
  const [text, setText] = useState(value)
  const settle = useDebouncedCallback((typed: string) => onSettled(typed.trim()), 250)
  // Links and the back button change the address too. What was typed since is on its way there.
  useEffect(() => {
    if (!settle.isPending()) setText(value)
  }, [value, settle])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        settle(currentTarget.value)
      }}
    />
  )
}
