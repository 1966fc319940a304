/** A session's title from its first user message (contract section 25): at a word boundary, at most 60 characters. */

const MAX_LENGTH = 60

/** Enough to find a title in: every message is looked at when it is admitted. */
const MAX_SOURCE = 10_000

/**
 * Derives a title. Null when the text holds nothing to name a session by. Characters are Unicode code points; control
 * characters divide words.
 */
export function deriveTitle(text: string): string | null {
  let title: string | null = null
  for (const [word] of text
    .trimStart()
    .slice(0, MAX_SOURCE)
    .matchAll(/[^\s\p{Cc}]+/gu)) {
    if (title === null) title = [...word].slice(0, MAX_LENGTH).join('')
    else if ([...title].length + 1 + [...word].length > MAX_LENGTH) return title
    else title += ` ${word}`
  }
  return title
}
