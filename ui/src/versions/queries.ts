/** The versions of an agent at the server, and its draft. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { agentResource } from '../agents/resource.ts'
import { api } from '../api.ts'

export type AgentVersion = components['schemas']['AgentVersion']
export type AgentVersionDetail = components['schemas']['AgentVersionDetail']

export const VERSIONS_SHOWN = 20

/** Returns the path of the page of an agent's versions. */
export const versionsPath = (agentId: string): string => `/agents/${agentId}/versions`

// They begin with the agents' key: what changes an agent makes a version.
export const versionList = (id: string, offset: number) =>
  queryOptions({
    queryKey: ['agents', 'versions', id, offset],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/agents/{id}/versions', {
        params: { path: { id }, query: { limit: VERSIONS_SHOWN, offset } },
        signal,
      }),
  })

export const oneVersion = (id: string, n: number) =>
  queryOptions({
    queryKey: ['agents', 'version', id, n],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/agents/{id}/versions/{n}', { params: { path: { id, n: String(n) } }, signal }),
  })

/** Makes a new live version that equals an older one. */
export const publishVersion = (id: string, n: number): Promise<AgentVersion> =>
  api
    .POST('/api/v1/agents/{id}/versions/{n}/publish', { params: { path: { id, n: String(n) } } })
    .finally(agentResource.changed)
