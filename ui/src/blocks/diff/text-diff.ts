/** The difference of two texts: by lines where there are several, else by words. */

export interface DiffPart {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Limits a comparison, whose cost is the product of both lengths: 2,000 characters have at most 1,000 words. */
const MOST_CELLS = 1_500_000

export function diffOf(from: string, to: string): DiffPart[] {
  const byLine = from.includes('\n') || to.includes('\n')
  const [before, after] = [from, to].map((text) => (byLine ? linesOf(text) : wordsOf(text))) as [string[], string[]]
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1
  const middle = compare(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const same = (texts: string[]): DiffPart[] => texts.map((text) => ({ kind: 'same', text }))
  return joined([...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))])
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
const wordsOf = (text: string): string[] => text.match(/\s+|\S+/g) ?? []

/** Compares two lists by their longest common subsequence. */
function compare(before: string[], after: string[]): DiffPart[] {
  if (before.length * after.length > MOST_CELLS) return replaced(before, after)
  const width = after.length + 1
  const lengths = new Uint16Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  const parts: DiffPart[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      parts.push({ kind: 'same', text: before[i] ?? '' })
      i += 1
      j += 1
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      parts.push({ kind: 'removed', text: before[i] ?? '' })
      i += 1
    } else {
      parts.push({ kind: 'added', text: after[j] ?? '' })
      j += 1
    }
  }
  return [...parts, ...replaced(before.slice(i), after.slice(j))]
}

const replaced = (before: string[], after: string[]): DiffPart[] => [
  ...before.map((text): DiffPart => ({ kind: 'removed', text })),
  ...after.map((text): DiffPart => ({ kind: 'added', text })),
]

/** Joins neighbours of the same kind. Removed text comes before the text that was added in its place. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = []
  let removed = ''
  let added = ''
  const flush = () => {
    if (removed !== '') result.push({ kind: 'removed', text: removed })
    if (added !== '') result.push({ kind: 'added', text: added })
    removed = ''
    added = ''
  }
  for (const { kind, text } of parts) {
    if (kind === 'removed') removed += text
    else if (kind === 'added') added += text
    // Between two that changed, a space is no anchor: whole passages are easier to read.
    else if (text.trim() === '' && !text.includes('\n') && (removed !== '' || added !== '')) {
      removed += text
      added += text
    } else {
      flush()
      const last = result.at(-1)
      if (last?.kind === 'same') last.text += text
      else result.push({ kind, text })
    }
  }
  flush()
  return result
}
