/** `/audit`: who changed what. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'
import { useAuditFilters } from './filters-in-url.ts'
import { auditEntries } from './queries.ts'

export function Component() {
  const state = useAuditFilters()
  const { limit, offset } = state.paging.params
  const query = useQuery({
    ...auditEntries({ ...state.filters, limit, offset }),
    placeholderData: keepPreviousData,
  })
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <AuditFilters {...state} />
      <ReadFailure error={error} query={query} mb="md" />
      {(data || error === null) && <AuditTable entries={data?.entries} isStale={isPlaceholderData} />}
      {data && <Pager total={data.total} limit={limit} offset={offset} onOffset={state.paging.setOffset} />}
    </>
  )
}
