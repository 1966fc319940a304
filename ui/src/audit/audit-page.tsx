/** `/audit`: who changed what. */
import { Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
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
      <ErrorAlert error={error} mb="md" />
      {data === undefined ? (
        error === null && <Skeleton height={240} radius="lg" />
      ) : (
        <>
          <AuditTable entries={data.entries} isStale={isPlaceholderData} />
          <Pager total={data.total} limit={limit} offset={offset} onOffset={state.paging.setOffset} />
        </>
      )}
    </>
  )
}
