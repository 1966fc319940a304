/** Whether the sessions beside the conversation are folded away, kept in this browser. */
import { useState } from 'react'
import { usePageKeys } from '../../blocks/pages/page-keys.ts'

export interface Fold {
  isFolded: boolean
  toggle: () => void
}

const key = 'playground-sessions'

export function useFold(): Fold {
  const [isFolded, setFolded] = useState(() => localStorage.getItem(key) === 'folded')
  const toggle = () => {
    localStorage.setItem(key, isFolded ? 'open' : 'folded')
    setFolded(!isFolded)
  }
  usePageKeys([['[', toggle]])
  return { isFolded, toggle }
}
