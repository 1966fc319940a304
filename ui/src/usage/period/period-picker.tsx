import { Group, SegmentedControl } from '@mantine/core'
import { DateField } from '../../blocks/forms/date-field.tsx'
import classes from '../usage.module.css'
import { usePeriod, usualSpans } from './period-in-url.ts'

/** The picker of the period, which is part of the address. */
export function PeriodPicker() {
  const { span, days, choose, chooseEnd } = usePeriod()
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
      {span === null && (
        <Group gap="xs" wrap="nowrap">
          {(['from', 'to'] as const).map((end) => (
            <DateField
              key={end}
              type="date"
              size="xs"
              label={end === 'from' ? 'First day' : 'Last day'}
              value={days[end]}
              onSettled={(day) => day !== '' && chooseEnd(end, day)}
            />
          ))}
        </Group>
      )}
    </Group>
  )
}
