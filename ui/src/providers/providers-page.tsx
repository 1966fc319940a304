import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { type Column, ListPage } from '../blocks/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { type Provider, providerList, providerTypes } from './queries.ts'

const keyWords = ({ hasApiKey, apiKeyHint }: Provider): string =>
  hasApiKey ? (apiKeyHint === null ? 'Stored' : `…${apiKeyHint}`) : 'None'

export function Component() {
  const { data: types } = useQuery(providerTypes)
  const columns: Column<Provider>[] = [
    {
      header: 'Type',
      width: '11rem',
      cell: ({ providerType }) => types?.find(({ id }) => id === providerType)?.name ?? providerType,
    },
    { header: 'Key', width: '8rem', minor: true, cell: keyWords },
    { header: 'Changed', width: '10rem', minor: true, cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} /> },
  ]
  return (
    <ListPage
      title="Providers"
      description="Where the models are: a vendor and your key, or a server of your own."
      list={providerList}
      name={({ name }) => name}
      linkTo={({ id }) => `/providers/${id}`}
      columns={columns}
      create={{ label: 'New provider', to: '/providers/new' }}
      empty={
        <EmptyState
          icon={IconPlugConnected}
          title="No providers yet"
          action={
            <Button component={Link} to="/providers/new">
              Connect the first one
            </Button>
          }
        >
          Connect a vendor such as OpenAI or Mistral, a model server of your own, or the built-in demo that needs no
          key.
        </EmptyState>
      }
    />
  )
}
