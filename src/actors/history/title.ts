/** A session's title from its first user message (contract section 4): at a word boundary, at most 60 characters. */

const MAX_LENGTH = 60

/** Null when the text holds nothing to name a session by. Characters are Unicode code points. */
export function deriveTitle(text: string): string | null {
  const words = text.trim().split(/\s+/u).filter(Boolean)
  const first = words[0]
  if (first === undefined) return null
  let title = [...first].slice(0, MAX_LENGTH).join('')
  for (const word of words.slice(1)) {
    if ([...title].length + 1 + [...word].length > MAX_LENGTH) break
    title += ` ${word}`
  }
  return title
}
