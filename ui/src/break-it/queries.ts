/** The faults that `/break-it` offers; a 404 where it is not offered. */
import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../api.ts'

const breaks = ['kill', 'pause-database', 'cut-provider', 'drop-connection'] as const
export type Break = (typeof breaks)[number]

export const breakStatus = queryOptions({
  queryKey: ['break-it'],
  queryFn: async ({ signal }): Promise<{ command: string } | null> => {
    const response = await fetch('/break-it/status', { signal })
    return response.ok ? response.json() : null
  },
  staleTime: Number.POSITIVE_INFINITY,
})

export async function breakNow(what: Break): Promise<void> {
  const response = await fetch(`/break-it/${what}`, { method: 'POST' })
  if (!response.ok) throw new ApiError(response.status, 'This cannot be broken here.')
}
