/** Whether the sessions beside the conversation are folded away, kept in this browser. */
import { useHotkeys } from '@mantine/hooks'
import { useState } from 'react'

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
  useHotkeys([[']', toggle]])
  return { isFolded, toggle }
}
