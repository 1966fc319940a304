/** Agents at the server: reads and writes. */
import { IconRobot } from '@tabler/icons-react'
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'

export type Agent = components['schemas']['Agent']
export type AgentTools = components['schemas']['AgentTools']
export type AgentFields = components['schemas']['AgentCreate']

export const agentResource = resource<Agent>({
  noun: 'agent',
  title: 'Agents',
  path: '/agents',
  apiPath: '/api/v1/agents',
  icon: IconRobot,
  key: 'agents',
  async page(init) {
    const { agents, total } = await api.GET('/api/v1/agents', init)
    return { items: agents, total }
  },
  // The tag says nothing of the version and the draft: by it, the browser would show those that it has stored.
  one: (init) => api.GET('/api/v1/agents/{id}', { ...init, headers: { 'if-none-match': '"none"' } }),
  remove: (init) => api.DELETE('/api/v1/agents/{id}', init),
})

/** Many pages ask for every agent: only agents know which prompt and provider they use. */
export const allAgents = { ...agentResource.all, staleTime: 30_000 }

/**
 * Returns the agent's tools; read each time they are shown, since a tool that is deleted elsewhere leaves them
 * silently.
 */
export const agentTools = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'tools', id],
    queryFn: ({ signal }) => api.GET('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: id } }, signal }),
  })

export const agentPath = (id: string): string => `/api/v1/agents/${id}`
export const toolsPath = (id: string): string => `${agentPath(id)}/tools`

/** Returns the path at which programs call the agent, without the server's address. */
export const deployPath = (id: string): string => `/api/v1/agents/${id}/deploy`

/**
 * Returns whether programs need the key. No page knows it, so a call is made without one: a refusal is the answer, and
 * does not mean that the login has ended.
 */
export const keyNeeded = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'key-needed', id],
    queryFn: async ({ signal }) =>
      (await fetch(`${deployPath(id)}/sessions?limit=1`, { signal, credentials: 'omit' })).status === 401,
    staleTime: Number.POSITIVE_INFINITY,
  })

/**
 * Saves the agent and its tools, which are two records at the server. `id` null: it is created; `onCreated` receives
 * its id before the tools are stored, so that saving again after they were refused changes it and creates no second
 * one.
 */
export async function saveAgent(
  id: string | null,
  { tools, ...body }: AgentFields & { tools: AgentTools },
  edits: Edits,
  onCreated: (id: string) => void = () => {},
): Promise<Agent> {
  const agent =
    id === null
      ? await api.POST('/api/v1/agents', { body })
      : await edits.put(agentPath(id), (headers) => api.PUT('/api/v1/agents/{id}', { ...atRecord(id), body, headers }))
  if (id === null) onCreated(agent.id)
  const params = { path: { agent_id: agent.id } }
  await edits
    .put(toolsPath(agent.id), (headers) => api.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools, headers }))
    .finally(agentResource.changed)
  return agent
}

/** Returns the path of the agent's playground. */
export const playgroundPath = (id: string): string => `/playground/${id}`
