/** `/sessions`: the sessions of all agents, for operators. */
import { Skeleton } from '@mantine/core'
import { IconMessages } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { useSessionFilters } from './filters-in-url.ts'
import { allSessions } from './queries.ts'
import { SessionFilters } from './session-filters.tsx'
import { SessionTable } from './session-table.tsx'
import { useLiveSessions } from './use-live-sessions.ts'

const live = { placeholderData: keepPreviousData }
const none: ReadonlySet<string> = new Set()

export function Component() {
  const state = useSessionFilters()
  useLiveSessions()
  const { paging, filters, isFiltered, setFilter } = state
  const { data, error, isPlaceholderData } = useQuery({ ...allSessions({ ...paging.params, ...filters }), ...live })
  const [chosen, setChosen] = useState(none)
  const sessions = data?.sessions ?? []
  // What has left the page is not acted on.
  const selected = sessions.filter(({ id }) => chosen.has(id))
  const nothing = data !== undefined && data.sessions.length === 0 && !isFiltered && !isPlaceholderData
  return (
    <>
      <ErrorAlert error={error} mb="md" />
      {nothing && paging.params.offset === 0 ? (
        <EmptyState
          icon={IconMessages}
          title="No sessions yet"
          leadTo={{ path: '/playground', label: 'Open the playground' }}
        >
          A session begins with the first message, in the playground or through the API.
        </EmptyState>
      ) : (
        <>
          <SessionFilters {...state} />
          <BulkActions selected={selected} onDone={() => setChosen(none)} />
          {data === undefined ? (
            error === null && <Skeleton height={240} radius="lg" />
          ) : (
            <>
              <SessionTable
                sessions={sessions}
                isStale={isPlaceholderData}
                selected={new Set(selected.map(({ id }) => id))}
                onSelect={setChosen}
                onFilter={setFilter}
              />
              <Pager total={data.total} more={data.more} {...paging.params} onOffset={paging.setOffset} />
            </>
          )}
        </>
      )}
    </>
  )
}
