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

/** The words in place of `{{now.time}}`: a time there would change the beginning of every request (contract section 29). */
const TIME_WORDS = 'the time at the end of the newest user message'

/** Returns whether a prompt holds the time of day, so that user messages are sent with theirs. */
export const holdsTime = (content: string | null): boolean =>
  content?.includes('{{') === true &&
  distinctIn(content, VALUES).some(({ kind, name }) => kind === 'value' && name === 'now.time')

/** Returns what the form and the answer to saving say of a prompt. Null when there is nothing to say. */
export const promptWarning = (content: string): string | null =>
  holdsTime(content)
    ? `{{now.time}} stands for the words "${TIME_WORDS}": each user message is sent with its time, so that providers can cache what comes before.`
    : null

/**
 * Fills in a prompt. A missing value is its default, or empty. Older prompts may hold unknown names, which stay as they
 * are.
 */
export function fillPrompt(content: string, values: ReplyValues): string {
  if (!content.includes('{{')) return content
  return fillPlaceholders(
    content,
    (placeholder, asWritten) =>
      placeholder.kind === 'value'
        ? placeholder.name === 'now.time'
          ? TIME_WORDS
          : (replyValue(values, placeholder.name) ?? placeholder.fallback ?? '')
        : asWritten,
    VALUES,
  )
}
