/** Prompts at the server: reads and writes. */
import { IconFileText } from '@tabler/icons-react'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'

export type Prompt = components['schemas']['Prompt']
export type PromptFields = Pick<Prompt, 'name' | 'content'>

export const promptResource = resource<Prompt>({
  noun: 'prompt',
  title: 'Prompts',
  path: '/prompts',
  apiPath: '/api/v1/prompts',
  icon: IconFileText,
  key: 'prompts',
  async page(init) {
    const { prompts, total } = await api.GET('/api/v1/prompts', init)
    return { items: prompts, total }
  },
  one: (init) => api.GET('/api/v1/prompts/{id}', init),
  remove: (init) => api.DELETE('/api/v1/prompts/{id}', init),
})

const promptPath = (id: string): string => `${promptResource.apiPath}/${id}`

export const createPrompt = (body: PromptFields) =>
  api.POST('/api/v1/prompts', { body }).finally(promptResource.changed)

export const updatePrompt = (id: string, body: PromptFields, edits: Edits) =>
  edits
    .put(promptPath(id), (headers) => api.PUT('/api/v1/prompts/{id}', { ...atRecord(id), body, headers }))
    .finally(promptResource.changed)
