/** Tokens used: keys and reads. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'

export type UsageReport = components['schemas']['UsageReport']
export type UsageRow = components['schemas']['UsageRow']

/** ISO 8601 dates or times; `to` is not included, absent it is now. */
export interface Period {
  from?: string
  to?: string
}

export const usageQuery = (groupBy: 'agent' | 'model' | 'day', period: Period) =>
  queryOptions({
    queryKey: ['usage', groupBy, period],
    queryFn: ({ signal }) => api.GET('/api/v1/usage', { params: { query: { groupBy, ...period } }, signal }),
    refetchInterval: 60_000,
  })
