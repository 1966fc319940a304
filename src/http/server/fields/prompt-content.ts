/** The text of a prompt as callers send it. */
import { promptProblem } from '../../../templates/prompt-template.ts'
import { badRequest } from '../http-error.ts'

/** Throws 400 for a value that there is none of: the model would read its name. */
export function checkContent(content: string, field = 'content'): void {
  const problem = promptProblem(content)
  if (problem !== null) badRequest(`${field}: ${problem}`)
}
