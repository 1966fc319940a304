/**
 * The `ETag` of a management record (contract section 25): a short hash of each field, so that two tags tell which fields
 * differ, and one of when it was changed last, for what is stored and never shown. Weak, as the answer may be compressed.
 * The last hash is of what moves by itself: a reader who asks with `If-None-Match` gets it anew, an editor is not refused.
 */
import { createHash } from 'node:crypto'

export type FieldValues = Readonly<Record<string, unknown>>

const CHANGED_AT = 'updatedAt'
/** The fields that move without anybody's change. */
const MOVING = ['lastUsedAt', 'warning']
/** The moving fields, those of an agent that tell of its versions, and what is in the answer to a creation alone. */
const unlooked = new Set([...MOVING, 'version', 'hasDraft', 'key', 'secret'])

/** Six signs of base64url: that two values share them is one case in 69 billion. */
const LENGTH = 6
const shortHash = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64url')
    .slice(0, LENGTH)

const fieldsOf = (record: FieldValues): string[] =>
  Object.keys(record)
    .filter((name) => name !== CHANGED_AT && !unlooked.has(name))
    .toSorted()

const partsOf = (record: FieldValues): string[] => [
  shortHash(record[CHANGED_AT]),
  ...fieldsOf(record).map((name) => shortHash(record[name])),
]

export const tagOf = (record: FieldValues): string =>
  `W/"${partsOf(record).join('')}${wholes.get(record) ?? shortHash(MOVING.map((name) => record[name]))}"`

/** The last hashes of records that are parts of something larger. */
const wholes = new WeakMap<object, string>()

/** Makes the last hash of a record's tag that of the whole which it is a part of. Returns the record. */
export function partOf<Part extends object>(record: Part, whole: unknown): Part {
  wholes.set(record, shortHash(whole))
  return record
}

/** Returns whether a tag is of a part of this whole as it is now. */
export const bearsWhole = (ifMatch: string, whole: unknown): boolean =>
  ifMatch.trim() === '*' ||
  [...ifMatch.matchAll(/"([\w-]*)"/g)].some(([, tag = '']) => tag.slice(-LENGTH) === shortHash(whole))

/**
 * Returns the fields that have changed since the record bore one of these tags; none where only what is never shown
 * has. Null when it bears one.
 */
export function changedSince(ifMatch: string, record: FieldValues): string[] | null {
  if (ifMatch.trim() === '*') return null
  const now = partsOf(record)
  const tags = [...ifMatch.matchAll(/"([\w-]*)"/g)].map(([, tag = '']) => tag.slice(0, -LENGTH))
  if (tags.includes(now.join(''))) return null
  const [tag] = tags
  // A tag of a server version with other fields, or one that we did not make.
  if (tags.length !== 1 || tag?.length !== now.length * LENGTH) return []
  return fieldsOf(record).filter((_, n) => tag.slice((n + 1) * LENGTH, (n + 2) * LENGTH) !== now[n + 1])
}
