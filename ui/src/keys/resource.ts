/** Named keys at the server: reads and writes. */
import { IconKey } from '@tabler/icons-react'
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'

export type Key = components['schemas']['Key']
export type KeyCreated = components['schemas']['KeyCreated']
export type KeyScope = Key['scopes'][number]

export const keyResource = resource<Key>({
  noun: 'key',
  title: 'Keys',
  path: '/keys',
  apiPath: '/api/v1/keys',
  icon: IconKey,
  key: 'keys',
  async page(init) {
    const { keys, total } = await api.GET('/api/v1/keys', init)
    return { items: keys, total }
  },
  one: (init) => api.GET('/api/v1/keys/{id}', init),
  remove: (init) => api.DELETE('/api/v1/keys/{id}', init),
})

export const keyUse = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'use', id],
    queryFn: ({ signal }) => api.GET('/api/v1/keys/{id}/use', { ...atRecord(id), signal }),
    refetchInterval: 10_000,
  })

export const createKey = (body: components['schemas']['KeyCreate']): Promise<KeyCreated> =>
  api.POST('/api/v1/keys', { body }).finally(keyResource.changed)

export const updateKey = (id: string, body: components['schemas']['KeyUpdate'], edits: Edits): Promise<Key> =>
  edits
    .put(`/api/v1/keys/${id}`, (headers) => api.PUT('/api/v1/keys/{id}', { ...atRecord(id), body, headers }))
    .finally(keyResource.changed)
