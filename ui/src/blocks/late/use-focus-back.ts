import { useEffect, useState } from 'react'

/**
 * Gives the focus back to the element that had it, when the component leaves. For what is there only while it is open: the
 * library does so when a dialog closes, not when it goes.
 */
export function useFocusBack(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
    },
    [opener],
  )
}
