/** `/connections?user=&server=&offset=`: the sign-ins of users at MCP servers, of all or of one user. */
import { IconUserCheck } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { useSearchParams, withParams } from '../blocks/search-params.ts'
import { connections } from '../mcp-servers/resource.ts'
import { ConnectionFilters } from './connection-filters.tsx'
import { ConnectionsTable } from './connections-table.tsx'

export function Component() {
  const paging = usePaging()
  const [search, setSearch] = useSearchParams()
  const { limit, offset } = paging.params
  const [user, mcpServerId] = [search.get('user') ?? '', search.get('server') ?? '']
  const filters = { ...(user !== '' && { user }), ...(mcpServerId !== '' && { mcpServerId }) }
  const isFiltered = user !== '' || mcpServerId !== ''
  const query = useQuery({ ...connections({ ...filters, limit, offset }), placeholderData: keepPreviousData })
  const { data, error, isPlaceholderData } = query
  if (data?.total === 0 && !isFiltered && !isPlaceholderData) return <NobodySignedIn />
  return (
    <>
      <ConnectionFilters
        user={user}
        mcpServerId={mcpServerId}
        onChange={(changes) => setSearch((now) => withParams(now, { ...changes, offset: null }), { replace: true })}
      />
      <ReadFailure error={error} query={query} mb="md" />
      {(data || error === null) && (
        <ConnectionsTable connections={data?.connections} user={user} isStale={isPlaceholderData} />
      )}
      {data && <Pager total={data.total} limit={limit} offset={offset} onOffset={paging.setOffset} />}
    </>
  )
}

const NobodySignedIn = () => (
  <EmptyState
    icon={IconUserCheck}
    title="Nobody has signed in"
    leadTo={{ path: '/tools/mcp', label: 'Open the MCP servers' }}
  >
    An MCP server may ask each user to sign in. Their sign-ins are listed here, and can be ended.
  </EmptyState>
)
