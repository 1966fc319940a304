/** The days shown: `?days=7`, or `?from=2026-01-05&to=2026-01-31`, both days included. Days are UTC. */
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import { dayMs, dayOf } from '../buckets.ts'
import type { Period } from '../queries.ts'

export const usualSpans = [
  { value: '1', label: 'Today' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const
const usual = '30'

/** The values of the page's fields: the last day is included. */
export interface Days {
  from: string
  to: string
}

/** Returns the day after; an invalid day is kept, so that the server refuses it. */
function dayAfter(day: string): string {
  const moment = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(moment) ? day : dayOf(moment + dayMs)
}

/** Reads the period to request from the server. `span` null: days of the reader's own choice. */
function readPeriod(search: URLSearchParams, now: Date): { span: string | null; days: Days; period: Period } {
  const [from, to] = [search.get('from') ?? '', search.get('to') ?? '']
  if (from !== '' || to !== '') {
    const period = { ...(from !== '' && { from }), ...(to !== '' && { to: dayAfter(to) }) }
    return { span: null, days: { from, to }, period }
  }
  const span = usualSpans.find(({ value }) => value === search.get('days'))?.value ?? usual
  const first = dayOf(now.getTime() - (Number(span) - 1) * dayMs)
  return { span, days: { from: first, to: dayOf(now) }, period: { from: first } }
}

export function usePeriod() {
  const [search, setSearch] = useSearchParams()
  return {
    ...readPeriod(search, new Date()),
    choose: (choice: { days: string } | Days) => setSearch(() => new URLSearchParams({ ...choice })),
    /** Chooses the days of the reader's own period. */
    chooseEnd: (end: keyof Days, day: string) => setSearch((now) => withParams(now, { [end]: day })),
  }
}
