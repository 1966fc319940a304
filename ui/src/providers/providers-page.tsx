import { useQuery } from '@tanstack/react-query'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { type Provider, providerResource, providerTypes } from './resource.ts'

const keyWords = ({ hasApiKey, apiKeyHint }: Provider): string =>
  hasApiKey ? (apiKeyHint === null ? 'Stored' : `…${apiKeyHint}`) : 'None'

export function Component() {
  const { data: types } = useQuery(providerTypes)
  return (
    <ListPage
      resource={providerResource}
      description="Where your models run: a vendor with your API key, or your own server."
      columns={[
        {
          header: 'Type',
          width: '11rem',
          cell: ({ providerType }) => types?.find(({ id }) => id === providerType)?.name ?? providerType,
        },
        { header: 'Key', width: '8rem', minor: true, cell: keyWords },
      ]}
      create="New provider"
      createFirst="Connect the first one"
    >
      Connect a vendor such as OpenAI or Mistral, a model server of your own, or the built-in demo that needs no key.
    </ListPage>
  )
}
