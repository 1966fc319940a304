/**
 * The state of the audit page, in its address: `?q=&actor=&kind=&from=&to=&offset=`. Days are UTC; `to` is the last
 * one.
 */
import { usePaging } from '../blocks/pages/paging.ts'
import { useSearchParams, withParams } from '../blocks/search-params.ts'
import type { AuditFilters } from './queries.ts'

const filterNames = ['actor', 'kind', 'from', 'to'] as const
export type FilterName = (typeof filterNames)[number]

const DAY_MS = 86_400_000
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

export function useAuditFilters() {
  const paging = usePaging()
  const [search, setSearch] = useSearchParams()
  const shown = (name: FilterName): string => search.get(name) ?? ''
  const [from, to] = [shown('from'), shown('to')]
  const filters: AuditFilters = {
    ...(paging.q !== '' && { q: paging.q }),
    ...(shown('actor') !== '' && { actor: shown('actor') }),
    ...(shown('kind') !== '' && { kind: shown('kind') }),
    ...(isDay(from) && { from: `${from}T00:00:00Z` }),
    ...(isDay(to) && { to: new Date(Date.parse(to) + DAY_MS).toISOString() }),
  }
  return {
    paging,
    filters,
    shown,
    isFiltered: Object.keys(filters).length > 0,
    setFilter: (name: FilterName, value: string | null) =>
      setSearch((before) => withParams(before, { [name]: value || null, offset: null }), { replace: true }),
    clear: () => setSearch(() => new URLSearchParams()),
  }
}
