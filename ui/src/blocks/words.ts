import { parseExact } from '../../../src/untrusted/exact-json.ts'

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns `1,234,567`. Home shows some numbers at once, so Intl is not used (once.ts says what that costs). */
export const wholeNumber = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** Returns `1 session`, `2,000 sessions`. `plural`: for nouns that take more than an s. */
export const plural = (count: number, noun: string, plural = `${noun}s`): string =>
  `${wholeNumber(count)} ${count === 1 ? noun : plural}`

/** Indents JSON; any other text is left as it is. */
export function indented(text: string): string {
  try {
    return JSON.stringify(parseExact(text), null, 2)
  } catch {
    return text
  }
}
