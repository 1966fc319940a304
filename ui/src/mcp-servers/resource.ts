/** MCP servers at the server: reads, writes, and what they offer. */
import { IconServer2 } from '@tabler/icons-react'
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'
import { queryClient } from '../query-client.ts'

export type McpServer = components['schemas']['McpServer']
export type McpTool = components['schemas']['McpTool']
export type McpConnection = components['schemas']['McpConnection']
export type UserConnection = components['schemas']['UserConnection']
export type McpServerFields = Pick<
  McpServer,
  'name' | 'transport' | 'url' | 'headers' | 'auth' | 'oauthClientId' | 'oauthClientSecret'
>

export const mcpServerResource = resource<McpServer>({
  noun: 'MCP server',
  title: 'MCP servers',
  path: '/tools/mcp',
  apiPath: '/api/v1/mcp-servers',
  icon: IconServer2,
  key: 'mcp-servers',
  async page(init) {
    const { mcpServers, total } = await api.GET('/api/v1/mcp-servers', init)
    return { items: mcpServers, total }
  },
  one: (init) => api.GET('/api/v1/mcp-servers/{id}', init),
  remove: (init) => api.DELETE('/api/v1/mcp-servers/{id}', init),
})

export const createMcpServer = (body: McpServerFields) =>
  api.POST('/api/v1/mcp-servers', { body }).finally(mcpServerResource.changed)

export const updateMcpServer = (id: string, body: McpServerFields, edits: Edits) =>
  edits
    .put(`/api/v1/mcp-servers/${id}`, (headers) =>
      api.PUT('/api/v1/mcp-servers/{id}', { ...atRecord(id), body, headers }),
    )
    .finally(mcpServerResource.changed)

/**
 * Returns the tools that the server offers. Rejects with `ApiError` 502 and its own words when it cannot be reached.
 */
export const mcpTools = (id: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'tools', id],
    queryFn: async ({ signal }) => (await api.GET('/api/v1/mcp-servers/{id}/tools', { ...atRecord(id), signal })).tools,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

/** Calls a tool. What goes wrong is an answer too. */
export const tryMcpTool = (id: string, body: components['schemas']['McpToolTestRequest']) =>
  api.POST('/api/v1/mcp-servers/{id}/test', { ...atRecord(id), body })

/** Returns the users who have signed in at the server, 100 at most. */
export const mcpConnections = (id: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'connections', id],
    queryFn: async ({ signal }) => {
      const { params } = atRecord(id)
      return await api.GET('/api/v1/mcp-servers/{id}/connections', {
        params: { ...params, query: { limit: 100 } },
        signal,
      })
    },
  })

export interface ConnectionFilters {
  user?: string
  mcpServerId?: string
}

/** Returns the sign-ins at all servers, a page. */
export const connections = (query: ConnectionFilters & { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['mcp-servers', 'connections', 'all', query],
    queryFn: ({ signal }) => api.GET('/api/v1/connections', { params: { query }, signal }),
  })

export const removeConnection = (id: string, connectionId: string) =>
  api
    .DELETE('/api/v1/mcp-servers/{id}/connections/{connection_id}', {
      params: { path: { id, connection_id: connectionId } },
    })
    .finally(() => void queryClient.invalidateQueries({ queryKey: ['mcp-servers', 'connections'] }))
