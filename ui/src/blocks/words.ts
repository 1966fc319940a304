export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `1,234,567`. Home shows some at once, so they are not worded by Intl (once.ts says what that costs). */
export const wholeNumber = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** `1 session`, `2,000 sessions`; `plural` where an s is not enough. */
export const plural = (count: number, noun: string, plural = `${noun}s`): string =>
  `${wholeNumber(count)} ${count === 1 ? noun : plural}`

/** JSON is indented; anything else is left as it is. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
