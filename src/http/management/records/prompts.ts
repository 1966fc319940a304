/** System prompts (contract section 2, specification 4.5). */

import { recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import * as prompts from '../../../persistence/records/prompts.ts'
import { promptWarning } from '../../../templates/prompt-template.ts'
import { checkContent } from '../../server/fields/prompt-content.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { deleteUnlessInUse } from './in-use.ts'

export const promptHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listPrompts: ({ query }) => listAs('prompts', query, (page) => prompts.listPrompts(sql, page)),
    createPrompt: async ({ body, request }) => {
      checkContent(body.content)
      return withWarning(await recordCreation(sql, request, 'prompt', (tx) => prompts.createPrompt(tx, body)))
    },
    getPrompt: async ({ params }) => (await prompts.findPrompt(sql, params.id)) ?? missing('prompt'),
    updatePrompt: async ({ params: { id }, body, request }) => {
      const content = body.content ?? (await prompts.findPrompt(sql, id))?.content
      if (content !== undefined) checkContent(content)
      const updated = await recordUpdate(sql, request, 'prompt', {
        find: (tx) => prompts.findPrompt(tx, id),
        update: (tx) => prompts.updatePrompt(tx, id, body),
      })
      return withWarning(updated ?? missing('prompt'))
    },
    deletePrompt: async ({ params: { id }, request }) => {
      const deleted = await deleteUnlessInUse(sql, 'prompt', id, () =>
        recordDeletion(sql, request, 'prompt', {
          find: (tx) => prompts.findPrompt(tx, id),
          remove: (tx) => prompts.deletePrompt(tx, id),
        }),
      )
      if (!deleted) missing('prompt')
    },
  }) satisfies Handlers<'prompts'>

/** Adds a warning to a saved prompt that holds the time of day. */
function withWarning<Saved extends { content: string }>(prompt: Saved): Saved & { warning?: string } {
  const warning = promptWarning(prompt.content)
  return warning === null ? prompt : { ...prompt, warning }
}
