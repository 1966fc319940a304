/** Providers at the server: keys, reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { every } from '../blocks/every.ts'
import type { PageOf, PageParams } from '../blocks/paging.ts'
import { queryClient } from '../query-client.ts'

export type Provider = components['schemas']['Provider']
export type ProviderType = components['schemas']['ProviderType']
export type ProviderCreate = components['schemas']['ProviderCreate']
export type ProviderUpdate = components['schemas']['ProviderUpdate']

const page = async (query: PageParams, signal: AbortSignal): Promise<PageOf<Provider>> => {
  const { providers, total } = await api.GET('/api/v1/settings/providers', { params: { query }, signal })
  return { items: providers, total }
}

export const providerList = (query: PageParams) =>
  queryOptions({ queryKey: ['providers', 'list', query], queryFn: ({ signal }) => page(query, signal) })

export const allProviders = queryOptions({
  queryKey: ['providers', 'all'],
  queryFn: ({ signal }) => every((query) => page(query, signal)),
})

export const providerById = (id: string) =>
  queryOptions({
    queryKey: ['providers', 'one', id],
    queryFn: ({ signal }) => api.GET('/api/v1/settings/providers/{id}', { params: { path: { id } }, signal }),
  })

/** What kinds there are; the same for as long as the server runs. */
export const providerTypes = queryOptions({
  queryKey: ['provider-types'],
  queryFn: async ({ signal }) => (await api.GET('/api/v1/provider-types', { signal })).providerTypes,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Whether the provider answers, and its models. It is a call to the vendor: kept for five minutes. */
export const providerTest = (id: string) =>
  queryOptions({
    queryKey: ['providers', 'test', id],
    queryFn: ({ signal }) => api.POST('/api/v1/settings/providers/{id}/test', { params: { path: { id } }, signal }),
    staleTime: 300_000,
    refetchOnWindowFocus: false,
  })

/** Whatever shows providers is read anew, tests that are on the page included. */
const changed = <Answered>(result: Answered): Answered => {
  void queryClient.invalidateQueries({ queryKey: ['providers'] })
  return result
}

export const createProvider = (body: ProviderCreate) => api.POST('/api/v1/settings/providers', { body }).then(changed)

export const updateProvider = (id: string, body: ProviderUpdate) =>
  api.PUT('/api/v1/settings/providers/{id}', { params: { path: { id } }, body }).then(changed)

/** Rejects with `ApiError` 409 naming the agents that use it. */
export const deleteProvider = async (id: string): Promise<void> => {
  await api.DELETE('/api/v1/settings/providers/{id}', { params: { path: { id } } })
  queryClient.removeQueries({ queryKey: ['providers', 'one', id] })
  queryClient.removeQueries({ queryKey: ['providers', 'test', id] })
  void queryClient.invalidateQueries({ queryKey: ['providers'] })
}
