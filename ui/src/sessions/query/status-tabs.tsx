/** How many sessions there are of each status; a click narrows the list to it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { wholeNumber } from '../../blocks/words.ts'
import { statuses } from '../filters-in-url.ts'
import { sessionCounts } from '../queries.ts'
import { tones } from '../status-mark.tsx'
import type { SessionFilters, SessionStatus } from './filters.ts'
import classes from './query.module.css'

/** The server counts no further than this. */
const MOST = 10_000

const order: readonly SessionStatus[] = ['streaming', 'waiting', 'error', 'cancelled', 'complete', 'idle']

interface StatusTabsProps {
  filters: SessionFilters
  /** Null shows all. */
  onChange: (status: SessionStatus | null) => void
}

export function StatusTabs({ filters, onChange }: StatusTabsProps) {
  const { data } = useQuery({ ...sessionCounts(filters), placeholderData: keepPreviousData })
  const all = data && order.reduce((sum, status) => sum + data[status], 0)
  // A sum of counts that stopped at their limit is no count.
  const isMore = data && order.some((status) => data[status] >= MOST)
  return (
    <fieldset className={classes.tabs} aria-label="Status">
      <button
        type="button"
        className={classes.tab}
        aria-pressed={filters.status === undefined}
        onClick={() => onChange(null)}
      >
        All{' '}
        <b>
          {all === undefined ? '–' : `${wholeNumber(isMore ? Math.floor(all / MOST) * MOST : all)}${isMore ? '+' : ''}`}
        </b>
      </button>
      {order.map((status) => (
        <button
          type="button"
          key={status}
          className={classes.tab}
          data-tone={tones[status]}
          aria-pressed={filters.status === status}
          onClick={() => onChange(filters.status === status ? null : status)}
        >
          <i aria-hidden />
          {statuses[status]} <b>{data === undefined ? '–' : counted(data[status])}</b>
        </button>
      ))}
    </fieldset>
  )
}

const counted = (count: number): string => `${wholeNumber(count)}${count >= MOST ? '+' : ''}`
