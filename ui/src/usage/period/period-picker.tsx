import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import classes from '../usage.module.css'
import { type Days, usePeriod, usualSpans } from './period-in-url.ts'

/** How far back, or which days: part of the address. */
export function PeriodPicker() {
  const { span, days, choose } = usePeriod()
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        aria-label="Time"
        size="xs"
        className={classes.spans ?? ''}
        value={span ?? 'custom'}
        onChange={(value) => choose(value === 'custom' ? days : { days: value })}
        data={[...usualSpans, { value: 'custom', label: 'Custom' }]}
      />
      {span === null && <DayFields days={days} choose={choose} />}
    </Group>
  )
}

/** Held here while they are changed: the address follows a moment later, and a second change must build on the first. */
function DayFields({ days: { from, to }, choose }: { days: Days; choose: (days: Days) => void }) {
  const [draft, setDraft] = useState({ from, to })
  // The back button and links change the address too.
  useEffect(() => setDraft({ from, to }), [from, to])
  const chooseSoon = useDebouncedCallback(choose, 300)
  const change = (end: keyof Days, value: string) => {
    const next = { ...draft, [end]: value }
    setDraft(next)
    // A half-typed day has no value.
    if (value !== '') chooseSoon(next)
  }
  return (
    <Group gap="xs" wrap="nowrap">
      {(['from', 'to'] as const).map((end) => (
        <TextInput
          key={end}
          type="date"
          size="xs"
          aria-label={end === 'from' ? 'First day' : 'Last day'}
          value={draft[end]}
          onChange={({ currentTarget: { value } }) => change(end, value)}
        />
      ))}
    </Group>
  )
}
