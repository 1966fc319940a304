/** HTTP tools at the server: keys, reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { every } from '../blocks/every.ts'
import type { PageOf, PageParams } from '../blocks/paging.ts'
import { queryClient } from '../query-client.ts'

export type HttpTool = components['schemas']['HttpTool']
export type HttpToolFields = Omit<HttpTool, 'id' | 'createdAt' | 'updatedAt'>

const page = async (query: PageParams, signal: AbortSignal): Promise<PageOf<HttpTool>> => {
  const { httpTools, total } = await api.GET('/api/v1/http-tools', { params: { query }, signal })
  return { items: httpTools, total }
}

export const httpToolList = (query: PageParams) =>
  queryOptions({ queryKey: ['http-tools', 'list', query], queryFn: ({ signal }) => page(query, signal) })

export const allHttpTools = queryOptions({
  queryKey: ['http-tools', 'all'],
  queryFn: ({ signal }) => every((query) => page(query, signal)),
})

export const httpToolById = (id: string) =>
  queryOptions({
    queryKey: ['http-tools', 'one', id],
    queryFn: ({ signal }) => api.GET('/api/v1/http-tools/{id}', { params: { path: { id } }, signal }),
  })

const changed = <Answered>(result: Answered): Answered => {
  void queryClient.invalidateQueries({ queryKey: ['http-tools'] })
  return result
}

export const createHttpTool = (body: HttpToolFields) => api.POST('/api/v1/http-tools', { body }).then(changed)

export const updateHttpTool = (id: string, body: HttpToolFields) =>
  api.PUT('/api/v1/http-tools/{id}', { params: { path: { id } }, body }).then(changed)

/** It leaves every agent's choice too. */
export const deleteHttpTool = async (id: string): Promise<void> => {
  await api.DELETE('/api/v1/http-tools/{id}', { params: { path: { id } } })
  queryClient.removeQueries({ queryKey: ['http-tools', 'one', id] })
  void queryClient.invalidateQueries({ queryKey: ['http-tools'] })
  void queryClient.invalidateQueries({ queryKey: ['agents', 'tools'] })
}

/** Runs the stored tool once, for real. */
export const tryHttpTool = (id: string, args: Record<string, unknown>) =>
  api.POST('/api/v1/http-tools/{id}/test', { params: { path: { id } }, body: { arguments: args } })
