import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Query } from '../blocks/resource.ts'

/** The same for as long as the server runs. */
export const builtInTools: Query<components['schemas']['BuiltInTool'][]> = {
  queryKey: ['built-in-tools'],
  queryFn: async ({ signal }) => (await api.GET('/api/v1/built-in-tools', { signal })).builtInTools,
  staleTime: Number.POSITIVE_INFINITY,
}
