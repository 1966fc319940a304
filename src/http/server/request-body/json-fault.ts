/** The place at which a text stops to be JSON: V8 names it for some faults alone. */

/** Longer texts are not searched: it costs up to 17 times of their reading. */
const LONGEST = 64 * 1024

/** Returns such as `at position 12 (line 1 column 13)`, where the text ends as `at its end, …`. Null for long texts. */
export function placeOfFault(text: string): string | null {
  if (text.length > LONGEST) return null
  let good = 0
  let bad = text.length + 1
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (mayGoOn(text.slice(0, middle))) good = middle
    else bad = middle
  }
  const lines = text.slice(0, good).split('\n')
  const where = `position ${good} (line ${lines.length} column ${(lines.at(-1)?.length ?? 0) + 1})`
  return good === text.length ? `at its end, ${where}` : `at ${where}`
}

/** Reports whether the text is JSON, or the beginning of some. */
function mayGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning)
    return true
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? []
    return String(error).includes('Unexpected end') || Number(position) === beginning.length
  }
}
