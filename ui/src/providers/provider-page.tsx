import { useQuery } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'react-router'
import type { Agent } from '../agents/resource.ts'
import { UsedBy, useKeptBy } from '../agents/used-by.tsx'
import { AwaitedFields } from '../blocks/awaited/awaited.tsx'
import type { Edits } from '../blocks/editing/edits.ts'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { NewPage } from '../blocks/pages/new-page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { ConnectionTest } from './connection-test.tsx'
import { fieldsOf, ProviderForm, type ProviderValues } from './provider-form.tsx'
import { createProvider, type Provider, providerResource, providerTypes, updateProvider } from './resource.ts'
import { TypePicker } from './type-picker.tsx'

/** `?type=` is the kind of provider that is being created. */
export function New() {
  const [search, setSearch] = useSearchParams()
  const types = useQuery(providerTypes)
  const type = types.data?.find(({ id }) => id === search.get('type'))
  return (
    <NewPage
      resource={providerResource}
      title="New provider"
      description="Where your models run: a vendor with your API key, or your own server."
    >
      {(onCreated) => (
        <>
          <WhenRead query={types} awaited={<AwaitedFields count={2} />}>
            {(known) => (
              <TypePicker
                types={known}
                value={type?.id ?? null}
                onChange={(id) => setSearch({ type: id }, { replace: true, preventScrollReset: true })}
              />
            )}
          </WhenRead>
          {type && (
            <ProviderForm
              key={type.id}
              type={type}
              provider={null}
              save={(values) => createProvider(fieldsOf(type, values))}
              onSaved={onCreated}
            />
          )}
        </>
      )}
    </NewPage>
  )
}

/** Saves the provider. An empty key field keeps the stored key. */
function update(id: string, values: ProviderValues, edits: Edits): Promise<Provider> {
  const { name, baseUrl, wireApi, apiKey, removeKey } = values
  const key = apiKey !== '' ? { apiKey } : removeKey && { apiKey: null }
  return updateProvider(id, { name, baseUrl: baseUrl.trim() || null, wireApi: wireApi || null, ...key }, edits)
}

const usesProvider =
  (id: string) =>
  ({ providerId, fallbacks }: Agent): boolean =>
    [providerId, ...fallbacks.map((one) => one.providerId)].includes(id)

export function Existing() {
  const { state } = useLocation()
  const types = useQuery(providerTypes)
  const keptBy = useKeptBy('provider')
  const typeOf = (name: string) => types.data?.find(({ id }) => id === name)
  return (
    <RecordPage
      resource={providerResource}
      about={({ providerType }) => typeOf(providerType)?.name ?? providerType}
      deletion="Its address and key are deleted permanently."
      kept={({ id }) => keptBy(usesProvider(id))}
      side={({ id }) => (
        <>
          <ConnectionTest providerId={id} atOnce={state?.isNew === true} />
          <UsedBy noun="provider" uses={usesProvider(id)} />
        </>
      )}
    >
      {(provider, onSaved, edits) => (
        <WhenRead query={types} awaited={<AwaitedFields />}>
          {() => {
            const type = typeOf(provider.providerType)
            return (
              type && (
                <ProviderForm
                  type={type}
                  provider={provider}
                  save={(values) => update(provider.id, values, edits)}
                  onSaved={onSaved}
                />
              )
            )
          }}
        </WhenRead>
      )}
    </RecordPage>
  )
}
