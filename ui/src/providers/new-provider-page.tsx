import { Alert, Loader } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearchParams } from 'react-router'
import { wordsOf } from '../api.ts'
import { Page } from '../blocks/page.tsx'
import { ProviderForm } from './provider-form.tsx'
import { createProvider, providerTypes } from './queries.ts'
import { TypePicker } from './type-picker.tsx'

export function Component() {
  const navigate = useNavigate()
  const [search, setSearch] = useSearchParams()
  const { data: types, error } = useQuery(providerTypes)
  const type = types?.find(({ id }) => id === search.get('type'))
  return (
    <Page
      title="New provider"
      description="Where the models are: a vendor and your key, or a server of your own."
      back={{ to: '/providers', label: 'Providers' }}
      width="reading"
    >
      {error && <Alert color="red">{wordsOf(error)}</Alert>}
      {!types && !error && <Loader aria-label="Loading" />}
      {types && (
        <TypePicker
          types={types}
          value={type?.id ?? null}
          onChange={(id) => setSearch({ type: id }, { replace: true, preventScrollReset: true })}
        />
      )}
      {type && (
        <ProviderForm
          key={type.id}
          type={type}
          provider={null}
          save={({ name, apiKey, baseUrl }) =>
            createProvider({ name, providerType: type.id, apiKey: apiKey || null, baseUrl: baseUrl.trim() || null })
          }
          onSaved={({ id, name }) => {
            notifications.show({ message: `Created the provider “${name}”.` })
            void navigate(`/providers/${id}`, { state: { saved: true, isNew: true }, replace: true })
          }}
        />
      )}
    </Page>
  )
}
