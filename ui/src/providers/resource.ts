/** Providers at the server: reads, writes and connection tests. */
import { IconPlugConnected } from '@tabler/icons-react'
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'

export type Provider = components['schemas']['Provider']
export type ProviderType = components['schemas']['ProviderType']
export type ProviderCreate = components['schemas']['ProviderCreate']
export type ProviderUpdate = components['schemas']['ProviderUpdate']

/** The providers. A change of a provider makes its connection test stale too. */
export const providerResource = resource<Provider>({
  noun: 'provider',
  title: 'Providers',
  path: '/providers',
  apiPath: '/api/v1/settings/providers',
  icon: IconPlugConnected,
  key: 'providers',
  async page(init) {
    const { providers, total } = await api.GET('/api/v1/settings/providers', init)
    return { items: providers, total }
  },
  one: (init) => api.GET('/api/v1/settings/providers/{id}', init),
  remove: (init) => api.DELETE('/api/v1/settings/providers/{id}', init),
})

export const createProvider = (body: ProviderCreate) =>
  api.POST('/api/v1/settings/providers', { body }).finally(providerResource.changed)

export const updateProvider = (id: string, body: ProviderUpdate, edits: Edits) =>
  edits
    .put(`/api/v1/settings/providers/${id}`, (headers) =>
      api.PUT('/api/v1/settings/providers/{id}', { ...atRecord(id), body, headers }),
    )
    .finally(providerResource.changed)

/** The types of providers; the same for as long as the server runs. */
export const providerTypes = queryOptions({
  queryKey: ['provider-types'],
  queryFn: async ({ signal }) => (await api.GET('/api/v1/provider-types', { signal })).providerTypes,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Returns whether the provider answers, and its models. It is a call to the vendor: kept for five minutes. */
export const providerTest = (id: string) =>
  queryOptions({
    queryKey: ['providers', 'test', id],
    queryFn: ({ signal }) => api.POST('/api/v1/settings/providers/{id}/test', { ...atRecord(id), signal }),
    staleTime: 300_000,
    refetchOnWindowFocus: false,
  })
