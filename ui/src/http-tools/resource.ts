/** HTTP tools at the server: reads, writes and trials. */
import { IconWorldCode } from '@tabler/icons-react'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'

export type HttpTool = components['schemas']['HttpTool']
export type HttpToolFields = Omit<HttpTool, 'id' | 'createdAt' | 'updatedAt'>

export const httpToolResource = resource<HttpTool>({
  noun: 'HTTP tool',
  title: 'HTTP tools',
  path: '/tools/http',
  apiPath: '/api/v1/http-tools',
  icon: IconWorldCode,
  key: 'http-tools',
  async page(init) {
    const { httpTools, total } = await api.GET('/api/v1/http-tools', init)
    return { items: httpTools, total }
  },
  one: (init) => api.GET('/api/v1/http-tools/{id}', init),
  remove: (init) => api.DELETE('/api/v1/http-tools/{id}', init),
})

export const createHttpTool = (body: HttpToolFields) =>
  api.POST('/api/v1/http-tools', { body }).finally(httpToolResource.changed)

export const updateHttpTool = (id: string, body: HttpToolFields, edits: Edits) =>
  edits
    .put(`/api/v1/http-tools/${id}`, (headers) =>
      api.PUT('/api/v1/http-tools/{id}', { ...atRecord(id), body, headers }),
    )
    .finally(httpToolResource.changed)

type Trial = components['schemas']['HttpToolTestRequest']

/** Runs the stored tool once, for real. */
export const tryHttpTool = (id: string, body: Trial) =>
  api.POST('/api/v1/http-tools/{id}/test', { ...atRecord(id), body })
