/** The state of the sessions page, in its address: `?q=&status=&agentId=&older=…&offset=`. */
import { usePaging } from '../blocks/pages/paging.ts'
import { useSearchParams } from '../blocks/search-params.ts'
import type { SessionFilters, SessionStatus } from './query/filters.ts'
import { isFeedback, spanMs } from './query/query-text.ts'

export const statuses = {
  streaming: 'Running',
  waiting: 'Waiting',
  complete: 'Complete',
  error: 'Failed',
  cancelled: 'Stopped',
  idle: 'New',
} as const satisfies Record<SessionStatus, string>

const isStatus = (text: string): text is SessionStatus => Object.hasOwn(statuses, text)
const isSpan = (text: string): boolean => spanMs(text) !== null
const isMoment = (text: string): boolean => !Number.isNaN(Date.parse(text))

const texts = ['q', 'agentId', 'user', 'errorCode', 'providerId', 'text'] as const
const names = [...texts, 'in', 'archived', 'status', 'httpStatus', 'feedback', 'older', 'newer', 'from', 'to'] as const
export type FilterName = (typeof names)[number]

/** Reads the filters. Values that no session could have are left out. */
function filtersIn(search: URLSearchParams): SessionFilters {
  const read = (name: FilterName) => search.get(name) ?? ''
  const filters: SessionFilters = {}
  for (const name of texts) if (read(name) !== '') filters[name] = read(name)
  const status = read('status')
  if (isStatus(status)) filters.status = status
  if (read('in') === 'messages') filters.in = 'messages'
  const archived = read('archived')
  if (archived === 'true' || archived === 'false') filters.archived = archived
  const feedback = read('feedback')
  if (isFeedback(feedback)) filters.feedback = feedback
  if (/^[1-5]\d\d$/.test(read('httpStatus'))) filters.httpStatus = Number(read('httpStatus'))
  for (const name of ['older', 'newer'] as const) if (isSpan(read(name))) filters[name] = read(name)
  for (const name of ['from', 'to'] as const) if (isMoment(read(name))) filters[name] = read(name)
  return filters
}

export function useSessionFilters() {
  const paging = usePaging()
  const [search, setSearch] = useSearchParams()
  const filters = filtersIn(search)
  /**
   * Changes the filters of this moment, which may be newer than those that are shown: goes back to the first page, and adds
   * no entry to the browser's history.
   */
  const setFilters = (to: (now: SessionFilters) => SessionFilters) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        const wanted = to(filtersIn(before))
        for (const name of names) {
          const value = wanted[name]
          if (value === undefined) after.delete(name)
          else after.set(name, String(value))
        }
        after.delete('offset')
        return after
      },
      { replace: true },
    )
  return {
    paging,
    filters,
    isFiltered: Object.keys(filters).some((name) => name !== 'in'),
    setFilters,
    setFilter: (name: FilterName, value: string | null) =>
      setFilters(({ [name]: _, ...rest }) => (value === null ? rest : { ...rest, [name]: value })),
    clear: () => setSearch(() => new URLSearchParams()),
  }
}
