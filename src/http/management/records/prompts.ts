/** System prompts (contract section 2, specification 4.5). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import * as prompts from '../../../persistence/records/prompts.ts'
import { promptProblem } from '../../../templates/prompt-template.ts'
import { listAs } from '../../list.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { deleteUnlessInUse } from './in-use.ts'

export const promptHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listPrompts: ({ query }) => listAs('prompts', query, (page) => prompts.listPrompts(sql, page)),
    createPrompt: ({ body }) => {
      checkContent(body.content)
      return prompts.createPrompt(sql, body)
    },
    getPrompt: async ({ params }) => (await prompts.findPrompt(sql, params.id)) ?? missing('prompt'),
    updatePrompt: async ({ params, body }) => {
      const content = body.content ?? (await prompts.findPrompt(sql, params.id))?.content
      if (content !== undefined) checkContent(content)
      return (await prompts.updatePrompt(sql, params.id, body)) ?? missing('prompt')
    },
    deletePrompt: async ({ params: { id } }) => {
      const deleted = await deleteUnlessInUse(sql, 'prompt', id, () => prompts.deletePrompt(sql, id))
      if (!deleted) missing('prompt')
    },
  }) satisfies Handlers<'prompts'>

/** Throws 400 for a value that there is none of: the model would read its name. */
export function checkContent(content: string, field = 'content'): void {
  const problem = promptProblem(content)
  if (problem !== null) badRequest(`${field}: ${problem}`)
}
