import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { type Days, usePeriod, usualSpans } from './period-in-url.ts'
import classes from './usage.module.css'

/** How far back, or which days; it lies in the address. */
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

function DayFields({ days, choose }: { days: Days; choose: (days: Days) => void }) {
  return (
    <Group gap="xs" wrap="nowrap">
      {(['from', 'to'] as const).map((end) => (
        <TextInput
          key={end}
          type="date"
          size="xs"
          aria-label={end === 'from' ? 'First day' : 'Last day'}
          value={days[end]}
          // A field that is emptied keeps the other one, and its own last day: nothing to ask about is no choice.
          onChange={({ currentTarget: { value } }) => value !== '' && choose({ ...days, [end]: value })}
        />
      ))}
    </Group>
  )
}
