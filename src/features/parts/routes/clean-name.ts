/** Names of files that callers chose: shown to people, sent to models, saved under. */
import { withoutEnd } from '../../../untrusted/without-end.ts'

/** Unicode code points. */
const LONGEST_NAME = 200

/**
 * Returns the last segment of a path, without control characters and those that turn the direction of writing, and
 * without dots that would hide it. Null when nothing is left.
 */
export function cleanName(name: string): string | null {
  const segment = name.split(/[/\\]/).findLast((one) => one.trim() !== '') ?? ''
  const trimmed = segment
    .toWellFormed()
    // Controls, formats (directions, zero widths), line and paragraph separators, private use.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, '')
    .replace(/["<>|:*?]/g, '_')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\.+/, '')
  const plain = withoutEnd(trimmed, ' .')
  const points = Array.from(plain)
  if (points.length <= LONGEST_NAME) return plain === '' ? null : plain
  const [ending = ''] = /\.[^.]{1,10}$/.exec(plain) ?? []
  return points.slice(0, LONGEST_NAME - ending.length).join('') + ending
}
