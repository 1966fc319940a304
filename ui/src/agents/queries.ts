/** Agents at the server: keys, reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { every } from '../blocks/every.ts'
import type { PageOf, PageParams } from '../blocks/paging.ts'
import { queryClient } from '../query-client.ts'

export type Agent = components['schemas']['Agent']
export type AgentTools = components['schemas']['AgentTools']
export type AgentFields = components['schemas']['AgentCreate']

const page = async (query: PageParams, signal: AbortSignal): Promise<PageOf<Agent>> => {
  const { agents, total } = await api.GET('/api/v1/agents', { params: { query }, signal })
  return { items: agents, total }
}

export const agentList = (query: PageParams) =>
  queryOptions({ queryKey: ['agents', 'list', query], queryFn: ({ signal }) => page(query, signal) })

/** Every agent: who uses what is told by them alone. */
export const allAgents = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: ({ signal }) => every((query) => page(query, signal)),
  staleTime: 30_000,
})

export const agentById = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'one', id],
    queryFn: ({ signal }) => api.GET('/api/v1/agents/{id}', { params: { path: { id } }, signal }),
  })

/** Which tools it has; read anew each time, for a deleted tool leaves without a word. */
export const agentTools = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'tools', id],
    queryFn: ({ signal }) => api.GET('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: id } }, signal }),
  })

/** Where the agent is called by programs, without the server's address. */
export const deployPath = (id: string): string => `/api/v1/agents/${id}/deploy`

/**
 * Whether programs need the key. No page knows it, so the door is tried without one: a refusal is the answer, and is
 * no end of a login.
 */
export const keyNeeded = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'key-needed', id],
    queryFn: async ({ signal }) =>
      (await fetch(`${deployPath(id)}/sessions?limit=1`, { signal, credentials: 'omit' })).status === 401,
    staleTime: Number.POSITIVE_INFINITY,
  })

/**
 * The agent and its tools, which are two records at the server. `id` null: it is made; `onMade` is told its id at once,
 * so that saving again after the tools were refused changes it and makes no second one.
 */
export async function saveAgent(
  id: string | null,
  { tools, ...body }: AgentFields & { tools: AgentTools },
  onMade: (id: string) => void = () => {},
): Promise<Agent> {
  const agent =
    id === null
      ? await api.POST('/api/v1/agents', { body })
      : await api.PUT('/api/v1/agents/{id}', { params: { path: { id } }, body })
  if (id === null) onMade(agent.id)
  try {
    await api.PUT('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: agent.id } }, body: tools })
  } finally {
    void queryClient.invalidateQueries({ queryKey: ['agents'] })
  }
  return agent
}

export async function deleteAgent(id: string): Promise<void> {
  await api.DELETE('/api/v1/agents/{id}', { params: { path: { id } } })
  for (const kind of ['one', 'tools', 'key-needed']) {
    queryClient.removeQueries({ queryKey: ['agents', kind, id] })
  }
  void queryClient.invalidateQueries({ queryKey: ['agents'] })
}

/** Where a person talks to it. */
export const playgroundPath = (id: string): string => `/playground/${id}`
