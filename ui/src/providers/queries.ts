/** Providers at the server: keys and reads. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { answer, api } from '../api.ts'
import type { PageParams } from '../blocks/paging.ts'

export type Provider = components['schemas']['Provider']

export const providerList = (query: PageParams) =>
  queryOptions({
    queryKey: ['providers', 'list', query],
    queryFn: async ({ signal }) => {
      const { providers, total } = await answer(api.GET('/api/v1/settings/providers', { params: { query }, signal }))
      return { items: providers, total }
    },
  })
