/** System prompts with values of the session (contract section 20). */
import {
  distinctIn,
  fillPlaceholders,
  knownValues,
  type ReplyValues,
  replyValue,
  unclosedIn,
  VALUES,
} from './placeholders.ts'

/** Explains why a prompt may not be saved; null if it may. Other words in double braces are text of the prompt. */
export function promptProblem(content: string): string | null {
  for (const { kind, name } of distinctIn(content, VALUES)) {
    if (kind === 'unknown') return `${JSON.stringify(name)} is no value: there are ${knownValues}`
  }
  const unclosed = unclosedIn(content)
  return unclosed === null ? null : `${JSON.stringify(unclosed)} is not closed by "}}", or its default holds a brace`
}

/**
 * Builds the prompt that a model gets. `instructions` are a caller's text: values are filled into the agent's own prompt
 * alone, so that no caller reads the session's metadata by naming it. Null when there is neither.
 */
export function promptToSend(content: string | null, values: ReplyValues, instructions: string | null): string | null {
  const own = content && fillPrompt(content, values)
  if (instructions === null) return own
  return own === null || own.trim() === '' ? instructions : `${own}\n\n${instructions}`
}

/**
 * Fills in a prompt. A missing value is its default, or empty. Older prompts may hold unknown names, which stay as they
 * are.
 */
export function fillPrompt(content: string, values: ReplyValues): string {
  if (!content.includes('{{')) return content
  return fillPlaceholders(
    content,
    (placeholder, asWritten) =>
      placeholder.kind === 'value' ? (replyValue(values, placeholder.name) ?? placeholder.fallback ?? '') : asWritten,
    VALUES,
  )
}
