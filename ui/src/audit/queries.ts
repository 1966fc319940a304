/** The audit at the server. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'

export type AuditEntry = components['schemas']['AuditEntry']

export interface AuditFilters {
  q?: string
  actor?: string
  kind?: string
  from?: string
  to?: string
}

export const auditEntries = (query: AuditFilters & { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['audit', query],
    queryFn: async ({ signal }) => {
      const page = await api.GET('/api/v1/audit', { params: { query }, signal })
      return { entries: page.entries, total: 'total' in page ? page.total : 0 }
    },
  })
