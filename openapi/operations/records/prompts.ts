import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { Prompt, PromptCreate, PromptList, PromptUpdate } from '../../schemas/records/configuration.ts'

const one = '/api/v1/prompts/{id}'
const unknown = 'There is no such prompt.'

export const prompts = operations({
  listPrompts: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/prompts',
    scope: 'management',
    role: 'viewer',
    summary: 'List prompts, oldest first',
    query: searchPage,
    responses: { 200: PromptList },
  },
  createPrompt: {
    method: 'post',
    path: '/api/v1/prompts',
    scope: 'management',
    role: 'editor',
    summary: 'Create a prompt',
    body: PromptCreate,
    responses: { 201: Prompt },
  },
  getPrompt: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read a prompt',
    responses: { 200: Prompt },
    errors: { 404: unknown },
  },
  updatePrompt: {
    method: 'put',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Change a prompt',
    description: 'Changes the fields in the body. Replies that start later use the new text.',
    body: PromptUpdate,
    responses: { 200: Prompt },
    errors: { 404: unknown },
  },
  deletePrompt: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Delete a prompt',
    responses: { 204: null },
    errors: { 404: unknown, 409: 'Agents use it; the message names them.' },
  },
})
