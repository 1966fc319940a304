import { Button } from '@mantine/core'
import { IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { type Column, ListPage } from '../blocks/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { allProviders } from '../providers/queries.ts'
import { type Agent, agentList } from './queries.ts'

export function Component() {
  const { data: providers } = useQuery(allProviders)
  const columns: Column<Agent>[] = [
    { header: 'Model', width: '30%', cell: ({ model }) => model },
    {
      header: 'Provider',
      width: '20%',
      minor: true,
      cell: ({ providerId }) => providers?.find(({ id }) => id === providerId)?.name,
    },
    { header: 'Changed', width: '10rem', minor: true, cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} /> },
  ]
  return (
    <ListPage
      title="Agents"
      description="A model, a prompt and tools, behind one address that programs call."
      list={agentList}
      name={({ name }) => name}
      linkTo={({ id }) => `/agents/${id}`}
      columns={columns}
      create={{ label: 'New agent', to: '/agents/new' }}
      empty={
        <EmptyState
          icon={IconRobot}
          title="No agents yet"
          action={
            <Button component={Link} to="/agents/new">
              Make the first one
            </Button>
          }
        >
          An agent is what you talk to in the playground and what your programs call.
        </EmptyState>
      }
    />
  )
}
