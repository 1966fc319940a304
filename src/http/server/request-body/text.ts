/** Finds what no string of a caller may hold: U+0000, half surrogate pairs (contract section 2), and keys that harm. */

/** Returns what is wrong with the text, or null. */
export function brokenText(text: string): string | null {
  if (text.includes('\0')) return 'must not hold the character U+0000'
  return text.isWellFormed() ? null : 'must not hold one half of a surrogate pair'
}

interface Branch {
  value: Readonly<Record<string, unknown>>
  key: string
  parent: Branch | null
}

/**
 * Names the first string or key of a JSON value that is refused, as `items.3.name: must not …`, or null.
 * Walks without calling itself: JSON nests as deep as the body is long.
 */
export function findFault(root: unknown): string | null {
  const broken = brokenValue('', root)
  if (broken) return `body: ${broken}`
  const open: Branch[] = []
  if (isContainer(root)) open.push({ value: root, key: '', parent: null })
  for (let branch = open.pop(); branch; branch = open.pop()) {
    const container: Readonly<Record<string, unknown>> = branch.value
    // Not `Object.entries`: of 100,000 keys its pairs alone are 40 ms.
    for (const key of Object.keys(container)) {
      const value = container[key]
      const broken = brokenValue(key, value)
      if (broken) return `${pathOf({ key, parent: branch }) || 'body'}: ${broken}`
      if (isContainer(value)) open.push({ value, key, parent: branch })
    }
  }
  return null
}

const isContainer = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

const brokenValue = (key: string, value: unknown): string | null =>
  badKey(key, value) ?? brokenText(key) ?? (typeof value === 'string' ? brokenText(value) : null)

/**
 * Returns what is wrong with a key, or null. Bad are keys that change an object's prototype once they are copied into
 * another one.
 */
function badKey(key: string, value: unknown): string | null {
  const harms =
    key === '__proto__' || (key === 'constructor' && value instanceof Object && Object.hasOwn(value, 'prototype'))
  return harms ? 'is not allowed as a key' : null
}

/** Keeps at most the last six parts, as those of a message's part are, and nothing in it that could not be printed. */
function pathOf(end: Pick<Branch, 'key' | 'parent'>): string {
  const parts: string[] = []
  for (let at: Pick<Branch, 'key' | 'parent'> | null = end; at?.parent && parts.length < 6; at = at.parent) {
    parts.unshift(at.key.replaceAll('\0', '\\u0000').toWellFormed())
  }
  return parts.join('.')
}
