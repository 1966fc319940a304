import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { DateField } from '../blocks/forms/date-field.tsx'
import { SettledText } from '../blocks/forms/settled-text.tsx'
import classes from './audit.module.css'
import type { useAuditFilters } from './filters-in-url.ts'
import { kinds } from './words.ts'

type Filters = ReturnType<typeof useAuditFilters>

export function AuditFilters({ paging, shown, isFiltered, setFilter, clear }: Filters) {
  const [cleared, setCleared] = useState(0)
  return (
    // Begun anew once they are cleared: what was changed a moment before is not told any more.
    <search key={cleared} className={classes.filters} aria-label="Filter the audit">
      <SettledText label="Search by name or id" value={paging.q} onSettled={paging.setQ} />
      <SettledText label="Who" value={shown('actor')} onSettled={(text) => setFilter('actor', text)} />
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
