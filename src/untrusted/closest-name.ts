/** The name that was probably meant by one that is unknown. */

/** Longer names are no misspellings of ours. */
const LONGEST = 64

/** Removes the style of a name: `provider_id` and `ProviderID` differ in style, not in spelling. */
const plain = (name: string): string => name.replace(/[\s_-]/g, '').toLowerCase()

/**
 * Finds the closest name. Null when none of `names` is near it: by default a third of its letters may differ, elsewhere
 * `most` letters.
 */
export function closestName(given: string, names: readonly string[], most?: number): string | null {
  if (given.length > LONGEST) return null
  const asked = plain(given)
  const furthest = most ?? Math.max(1, Math.floor(asked.length / 3))
  let best: { name: string; distance: number } | null = null
  for (const name of names) {
    const known = plain(name)
    if (Math.abs(known.length - asked.length) > furthest) continue // so many letters at least were added or left out
    const distance = distanceBetween(asked, known)
    if (best === null || distance < best.distance) best = { name, distance }
  }
  return best !== null && best.distance <= furthest ? best.name : null
}

/** Counts letters added, left out, changed, or swapped with their neighbour. */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
