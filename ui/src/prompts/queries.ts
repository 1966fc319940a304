/** Prompts at the server: keys, reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { every } from '../blocks/every.ts'
import type { PageOf, PageParams } from '../blocks/paging.ts'
import { queryClient } from '../query-client.ts'

export type Prompt = components['schemas']['Prompt']
export type PromptFields = Pick<Prompt, 'name' | 'content'>

const page = async (query: PageParams, signal: AbortSignal): Promise<PageOf<Prompt>> => {
  const { prompts, total } = await api.GET('/api/v1/prompts', { params: { query }, signal })
  return { items: prompts, total }
}

export const promptList = (query: PageParams) =>
  queryOptions({ queryKey: ['prompts', 'list', query], queryFn: ({ signal }) => page(query, signal) })

export const allPrompts = queryOptions({
  queryKey: ['prompts', 'all'],
  queryFn: ({ signal }) => every((query) => page(query, signal)),
})

export const promptById = (id: string) =>
  queryOptions({
    queryKey: ['prompts', 'one', id],
    queryFn: ({ signal }) => api.GET('/api/v1/prompts/{id}', { params: { path: { id } }, signal }),
  })

/** Whatever shows prompts is read anew, except the one at hand. */
const changed = <Answered>(result: Answered): Answered => {
  void queryClient.invalidateQueries({ queryKey: ['prompts'] })
  return result
}

export const createPrompt = (body: PromptFields) => api.POST('/api/v1/prompts', { body }).then(changed)

export const updatePrompt = (id: string, body: PromptFields) =>
  api.PUT('/api/v1/prompts/{id}', { params: { path: { id } }, body }).then(changed)

/** Rejects with `ApiError` 409 naming the agents that use it. */
export const deletePrompt = async (id: string): Promise<void> => {
  await api.DELETE('/api/v1/prompts/{id}', { params: { path: { id } } })
  queryClient.removeQueries({ queryKey: ['prompts', 'one', id] })
  void queryClient.invalidateQueries({ queryKey: ['prompts', 'list'] })
  void queryClient.invalidateQueries({ queryKey: ['prompts', 'all'] })
}
