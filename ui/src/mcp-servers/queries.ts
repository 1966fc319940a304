/** MCP servers at the server: keys, reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { every } from '../blocks/every.ts'
import type { PageOf, PageParams } from '../blocks/paging.ts'
import { queryClient } from '../query-client.ts'

export type McpServer = components['schemas']['McpServer']
export type McpTool = components['schemas']['McpTool']
export type McpServerFields = Pick<McpServer, 'name' | 'transport' | 'url' | 'headers'>

const page = async (query: PageParams, signal: AbortSignal): Promise<PageOf<McpServer>> => {
  const { mcpServers, total } = await api.GET('/api/v1/mcp-servers', { params: { query }, signal })
  return { items: mcpServers, total }
}

export const mcpServerList = (query: PageParams) =>
  queryOptions({ queryKey: ['mcp-servers', 'list', query], queryFn: ({ signal }) => page(query, signal) })

export const allMcpServers = queryOptions({
  queryKey: ['mcp-servers', 'all'],
  queryFn: ({ signal }) => every((query) => page(query, signal)),
})

export const mcpServerById = (id: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'one', id],
    queryFn: ({ signal }) => api.GET('/api/v1/mcp-servers/{id}', { params: { path: { id } }, signal }),
  })

/** What the server offers. Rejects with `ApiError` 502 and its own words when it cannot be reached. */
export const mcpTools = (id: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'tools', id],
    queryFn: async ({ signal }) =>
      (await api.GET('/api/v1/mcp-servers/{id}/tools', { params: { path: { id } }, signal })).tools,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

const changed = <Answered>(result: Answered): Answered => {
  void queryClient.invalidateQueries({ queryKey: ['mcp-servers'] })
  return result
}

export const createMcpServer = (body: McpServerFields) => api.POST('/api/v1/mcp-servers', { body }).then(changed)

export const updateMcpServer = (id: string, body: McpServerFields) =>
  api.PUT('/api/v1/mcp-servers/{id}', { params: { path: { id } }, body }).then(changed)

/** It leaves every agent's choice too. */
export const deleteMcpServer = async (id: string): Promise<void> => {
  await api.DELETE('/api/v1/mcp-servers/{id}', { params: { path: { id } } })
  for (const kind of ['one', 'tools']) queryClient.removeQueries({ queryKey: ['mcp-servers', kind, id] })
  void queryClient.invalidateQueries({ queryKey: ['mcp-servers'] })
  void queryClient.invalidateQueries({ queryKey: ['agents', 'tools'] })
}
