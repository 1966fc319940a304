/**
 * An editor's hold on the records that its form began with: what it saves is refused with 412 where somebody else has
 * changed them since.
 */
import { createContext, useContext, useState } from 'react'
import { writeExact } from '../../../../src/untrusted/exact-json.ts'
import type { StoredRecord } from '../resource.ts'
import { tagOf } from './record-tags.ts'

export interface Edits {
  /** The form shows the record as it was read last. */
  hold: (path: string) => void
  /** Writes it unless it was changed since; it is held as it is then. */
  put: <Saved>(path: string, write: (headers: Record<string, string>) => Promise<Saved>) => Promise<Saved>
  /**
   * The page changes what its form does not show, which is no change by somebody else: the record is held as it is then,
   * unless somebody else has changed what is shown meanwhile.
   */
  beside: (path: string, read: () => Promise<StoredRecord>, write: () => Promise<void>) => Promise<void>
  /** The next writes replace whatever is stored. */
  letGo: () => void
}

const isShownAs = (one: StoredRecord, other: StoredRecord): boolean =>
  writeExact({ ...one, updatedAt: '' }) === writeExact({ ...other, updatedAt: '' })

/** Returns edits that hold nothing yet: their writes replace whatever is stored. */
export function createEdits(): Edits {
  const held = new Map<string, string>()
  const hold = (path: string) => {
    const tag = tagOf(path)
    if (tag !== undefined) held.set(path, tag)
  }
  return {
    hold,
    async put(path, write) {
      const tag = held.get(path)
      const saved = await write(tag === undefined ? {} : { 'if-match': tag })
      hold(path)
      return saved
    },
    async beside(path, read, write) {
      const before = await read()
      const isHeld = held.get(path) === tagOf(path)
      await write()
      // What was written stands, and may be shown this once, whether or not it can be read again.
      const after = await read().catch(() => null)
      if (isHeld && after !== null && isShownAs(after, before)) hold(path)
    },
    letGo: () => held.clear(),
  }
}

/** Tracks the edits of a form. `paths`: of the records that the form shows when it is mounted. */
export function useEdits(...paths: string[]): Edits {
  const [edits] = useState(() => {
    const begun = createEdits()
    for (const path of paths) begun.hold(path)
    return begun
  })
  return edits
}

interface EditedRecord {
  edits: Edits
  /** Shows the stored record instead of what the form holds. */
  reload: () => void
}

/** The record whose page this is. Null where a form creates one. */
export const EditedRecordContext = createContext<EditedRecord | null>(null)
export const useEditedRecord = (): EditedRecord | null => useContext(EditedRecordContext)
