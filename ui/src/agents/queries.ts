/** Agents at the server: keys and reads. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { answer, api } from '../api.ts'
import type { PageParams } from '../blocks/paging.ts'

export type Agent = components['schemas']['Agent']

export const agentList = (query: PageParams) =>
  queryOptions({
    queryKey: ['agents', 'list', query],
    queryFn: async ({ signal }) => {
      const { agents, total } = await answer(api.GET('/api/v1/agents', { params: { query }, signal }))
      return { items: agents, total }
    },
  })

/** Every agent: who uses what is told by them alone. A hundred a request, the most that the server gives. */
export const allAgents = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: async ({ signal }) => {
    const all: Agent[] = []
    for (;;) {
      const query = { limit: 100, offset: all.length }
      const { agents, total } = await answer(api.GET('/api/v1/agents', { params: { query }, signal }))
      all.push(...agents)
      if (agents.length === 0 || all.length >= total) return all
    }
  },
  staleTime: 30_000,
})
