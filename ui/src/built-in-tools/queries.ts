import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

/** The same for as long as the server runs. */
export const builtInTools = queryOptions({
  queryKey: ['built-in-tools'],
  queryFn: async ({ signal }) => (await api.GET('/api/v1/built-in-tools', { signal })).builtInTools,
  staleTime: Number.POSITIVE_INFINITY,
})
