import { Button } from '@mantine/core'
import { IconWorldCode } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { type Column, ListPage } from '../blocks/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { type HttpTool, httpToolList } from './queries.ts'

const columns: Column<HttpTool>[] = [
  { header: 'Request', width: '50%', cell: ({ method, url }) => `${method} ${url}` },
  { header: 'Changed', width: '10rem', minor: true, cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} /> },
]

export function Component() {
  return (
    <ListPage
      title="HTTP tools"
      description="Requests to web APIs that a model may make, with arguments of its choice."
      list={httpToolList}
      name={({ name }) => name}
      linkTo={({ id }) => `/tools/http/${id}`}
      columns={columns}
      create={{ label: 'New HTTP tool', to: '/tools/http/new' }}
      empty={
        <EmptyState
          icon={IconWorldCode}
          title="No HTTP tools yet"
          action={
            <Button component={Link} to="/tools/http/new">
              Make the first one
            </Button>
          }
        >
          Give a model any web API: the weather, your shop’s orders, a search. No code needed.
        </EmptyState>
      }
    />
  )
}
