/** The parts of a reply in their order: its text, split where tools were called, and the calls. Pure. */

/** `at`: where the text begins in the content. */
export type Segment<Call> = { key: string; at: number; text: string } | { key: string; call: Call }

/** Returns the parts of a reply. Text of blanks alone is left out. */
export function segments<Call extends { offset: number }>(content: string, calls: readonly Call[]): Segment<Call>[] {
  const parts: Segment<Call>[] = []
  let at = 0
  calls.forEach((call, index) => {
    const text = content.slice(at, call.offset)
    if (text.trim() !== '') parts.push({ key: `text ${at}`, at, text })
    parts.push({ key: `call ${index}`, call })
    at = Math.max(at, call.offset)
  })
  const rest = content.slice(at)
  if (rest.trim() !== '') parts.push({ key: `text ${at}`, at, text: rest })
  return parts
}

/** Returns the texts of a reply as paragraphs: what was written before a call and after it does not run together. */
export const paragraphs = (content: string, calls: readonly { offset: number }[]): string =>
  segments(content, calls)
    .flatMap((segment) => ('text' in segment ? [segment.text.trim()] : []))
    .join('\n\n')
