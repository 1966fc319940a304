/** What the page of sessions shows, in its address: `?q=&status=&agent=&user=&errorCode=&offset=`. */
import { usePaging } from '../blocks/pages/paging.ts'
import { useSearchParams, withParams } from '../blocks/search-params.ts'
import type { SessionFilters, SessionStatus } from './queries.ts'

export const statuses = {
  streaming: 'Running',
  waiting: 'Waiting',
  complete: 'Complete',
  error: 'Failed',
  cancelled: 'Stopped',
  idle: 'Not started',
} as const satisfies Record<SessionStatus, string>

const isStatus = (text: string): text is SessionStatus => Object.hasOwn(statuses, text)

export type FilterName = Exclude<keyof SessionFilters, 'q'>

export function useSessionFilters() {
  const paging = usePaging()
  const [search, setSearch] = useSearchParams()
  const status = search.get('status') ?? ''
  const filters: SessionFilters = {
    ...(isStatus(status) && { status }),
    ...present('agentId', search.get('agentId')),
    ...present('user', search.get('user')),
    ...present('errorCode', search.get('errorCode')),
  }
  return {
    paging,
    filters,
    isFiltered: paging.q !== '' || Object.keys(filters).length > 0,
    setFilter: (name: FilterName, value: string | null) =>
      setSearch((before) => withParams(before, { [name]: value || null, offset: null }), { replace: true }),
    clear: () => setSearch(() => new URLSearchParams()),
  }
}

const present = (name: FilterName, value: string | null) => (value ? { [name]: value } : {})
