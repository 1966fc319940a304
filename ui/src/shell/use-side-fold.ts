/** Whether the navigation is folded to its icons, kept in this browser. */
import { useHotkeys } from '@mantine/hooks'
import { useState } from 'react'

/** The name that public/color-scheme.js reads before the first frame. */
const key = 'side'

export function useSideFold(): { isFolded: boolean; toggle: () => void } {
  const [isFolded, setFolded] = useState(() => document.documentElement.hasAttribute('data-folded'))
  const toggle = () => {
    localStorage.setItem(key, isFolded ? 'open' : 'folded')
    document.documentElement.toggleAttribute('data-folded', !isFolded)
    setFolded(!isFolded)
  }
  useHotkeys([['[', toggle]])
  return { isFolded, toggle }
}
