/** What no string of a caller may hold: U+0000, half surrogate pairs (contract section 2), and keys that harm. */

/** What is wrong with the text, or null. */
export function brokenText(text: string): string | null {
  if (text.includes('\0')) return 'must not hold the character U+0000'
  return text.isWellFormed() ? null : 'must not hold one half of a surrogate pair'
}

interface Branch {
  value: object
  key: string
  parent: Branch | null
}

/**
 * Names the first string or key of a JSON value that is refused, as `items.3.name: must not …`, or null.
 * Walks without calling itself: JSON nests as deep as the body is long.
 */
export function findFault(root: unknown): string | null {
  const open: Branch[] = []
  let found: string | null = null
  const look = (value: unknown, key: string, parent: Branch | null): void => {
    const broken = badKey(key, value) ?? brokenText(key) ?? (typeof value === 'string' ? brokenText(value) : null)
    if (broken) found ??= `${pathOf({ key, parent }) || 'body'}: ${broken}`
    else if (value !== null && typeof value === 'object') open.push({ value, key, parent })
  }
  look(root, '', null)
  for (let branch = open.pop(); branch && found === null; branch = open.pop()) {
    for (const [key, value] of Object.entries(branch.value)) look(value, key, branch)
  }
  return found
}

/** Keys that change an object's prototype once they are copied into another one. */
function badKey(key: string, value: unknown): string | null {
  const harms =
    key === '__proto__' || (key === 'constructor' && value instanceof Object && Object.hasOwn(value, 'prototype'))
  return harms ? 'is not allowed as a key' : null
}

/** At most the last five parts, and nothing in it that could not be printed. */
function pathOf(end: Pick<Branch, 'key' | 'parent'>): string {
  const parts: string[] = []
  for (let at: Pick<Branch, 'key' | 'parent'> | null = end; at?.parent && parts.length < 5; at = at.parent) {
    parts.unshift(at.key.replaceAll('\0', '\\u0000').toWellFormed())
  }
  return parts.join('.')
}
