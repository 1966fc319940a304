/** Returns how many lines of a text are new, and how many are gone; lines that have only moved are neither. Pure. */
export function lineChanges(before: string, after: string): { added: number; removed: number } {
  const left = new Map<string, number>()
  for (const line of before.split('\n')) left.set(line, (left.get(line) ?? 0) + 1)
  let added = 0
  for (const line of after.split('\n')) {
    const count = left.get(line) ?? 0
    if (count > 0) left.set(line, count - 1)
    else added += 1
  }
  const removed = [...left.values()].reduce((sum, count) => sum + count, 0)
  return { added, removed }
}
