/** Tokens used: keys and reads. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { queryClient } from '../query-client.ts'
import { firstHour, hourMs, shownHours } from './last-day/hours.ts'

export type UsageReport = components['schemas']['UsageReport']
export type UsageRow = components['schemas']['UsageRow']
export type UsageFiguresRow = components['schemas']['UsageFiguresRow']
export type ModelPrices = components['schemas']['ModelPrices']

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

export const figuresQuery = (groupBy: 'agent' | 'model' | 'hour', period: Period) =>
  queryOptions({
    queryKey: ['usage', 'figures', groupBy, period],
    queryFn: ({ signal }) => api.GET('/api/v1/usage/figures', { params: { query: { groupBy, ...period } }, signal }),
    refetchInterval: 60_000,
  })

/** Returns the query of the shown hours and of as many before them, for what is compared. */
export const lastHours = (now: number) =>
  figuresQuery('hour', { from: new Date(firstHour(now) - shownHours * hourMs).toISOString() })

export const pricesPath = '/api/v1/settings/prices'

export const pricesQuery = queryOptions({
  queryKey: ['usage', 'prices'],
  queryFn: ({ signal }) => api.GET(pricesPath, { signal }),
})

export const savePrices = (body: ModelPrices, edits: Edits) =>
  edits
    .put(pricesPath, (headers) => api.PUT(pricesPath, { body, headers }))
    .finally(() => void queryClient.invalidateQueries({ queryKey: ['usage'] }))
