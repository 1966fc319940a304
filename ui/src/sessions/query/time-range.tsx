/** When the sessions were updated: one of the usual times, or from one moment to another. */
import { Select } from '@mantine/core'
import { DateField } from '../../blocks/forms/date-field.tsx'
import { useNow } from '../../blocks/use-now.ts'
import { LastDay, type Span } from '../../usage/last-day/last-day.tsx'
import type { useSessionFilters } from '../filters-in-url.ts'
import type { SessionFilters } from './filters.ts'
import classes from './query.module.css'

const usual = [
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]
const OWN = 'own'
const HOUR_MS = 3_600_000

/** The hours of the last day, as bars: shown while the time range is one that they can be chosen of. */
export function Hours({ filters, setFilters }: TimeRangeProps) {
  const now = useNow()
  const { from, to, newer } = filters
  if (newer !== '24h' && from === undefined && to === undefined) return null
  const span: Span | null =
    newer === '24h' ? null : { from: from ? Date.parse(from) : 0, to: to ? Date.parse(to) : Number.POSITIVE_INFINITY }
  return (
    <LastDay
      isLow
      now={now}
      span={span}
      onChange={(hours) => setFilters(inTime(hours ? isoOf(hours) : { newer: '24h' }))}
    />
  )
}

/** Returns what gives filters another time. */
const inTime =
  (time: Pick<SessionFilters, 'from' | 'to' | 'newer'>) =>
  ({ from: _, to: __, newer: ___, ...others }: SessionFilters): SessionFilters => ({ ...others, ...time })

/**
 * Returns the moments of the span. An end at this moment stays fixed: sessions that are updated later are not part of
 * it.
 */
const isoOf = ({ from, to }: Span) => ({
  from: new Date(from).toISOString(),
  ...(to < Date.now() && { to: new Date(to).toISOString() }),
})

type TimeRangeProps = Pick<ReturnType<typeof useSessionFilters>, 'filters' | 'setFilters'>

type TimeRangeChoice = Pick<ReturnType<typeof useSessionFilters>, 'filters' | 'setFilters' | 'setFilter'>

export function TimeRange({ filters, setFilters, setFilter }: TimeRangeChoice) {
  const { from, to, newer } = filters
  const isOwn = from !== undefined || to !== undefined
  const choose = (value: string | null) => {
    if (value === OWN) setFilters(inTime({ from: new Date(Date.now() - HOUR_MS).toISOString() }))
    else setFilters(inTime(value === null ? {} : { newer: value }))
  }
  const known = newer === undefined || usual.some(({ value }) => value === newer)
  return (
    <div className={classes.times}>
      <Select
        aria-label="Time range"
        placeholder="Any time"
        w={170}
        clearable
        clearButtonProps={{ 'aria-label': 'Any time' }}
        data={[
          ...usual,
          ...(known ? [] : [{ value: newer, label: `Last ${newer}` }]),
          { value: OWN, label: 'From … to …' },
        ]}
        value={isOwn ? OWN : (newer ?? null)}
        onChange={choose}
      />
      {isOwn && (
        <>
          <Moment label="From" iso={from} onChange={(iso) => setFilter('from', iso)} />
          <Moment label="To" iso={to} onChange={(iso) => setFilter('to', iso)} />
        </>
      )}
    </div>
  )
}

interface MomentProps {
  label: string
  iso: string | undefined
  /** Null when the field was emptied. */
  onChange: (iso: string | null) => void
}

const Moment = ({ label, iso, onChange }: MomentProps) => (
  <DateField
    type="datetime-local"
    label={label}
    w={200}
    value={iso === undefined ? '' : localTime(iso)}
    onSettled={(value) => onChange(value === '' ? null : new Date(value).toISOString())}
  />
)

/** Returns the moment as the field expects it: in the reader's time zone, to the minute. */
function localTime(iso: string): string {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
