/** The prompt of an agent as callers send it: a prompt's id, or a text of its own (contract section 28). */
import { badRequest } from '../http-error.ts'
import { checkContent } from './prompt-content.ts'

interface PromptFields {
  promptId?: string | null | undefined
  systemPrompt?: string | null | undefined
}

/** Returns both fields: the one that is set clears the other. Throws 400 for both, and for a text that is no prompt. */
export function givenPrompt({ promptId, systemPrompt }: PromptFields): PromptFields {
  if (promptId != null && systemPrompt != null) badRequest('systemPrompt: cannot stand beside promptId')
  if (systemPrompt != null) {
    checkContent(systemPrompt, 'systemPrompt')
    return { promptId: null, systemPrompt }
  }
  return promptId == null ? { promptId, systemPrompt } : { promptId, systemPrompt: null }
}
