/** A guard against losing what is typed with the window. */
import { useEffect } from 'react'

/** Asks before the window is closed, or loads another page, while something is typed that is not stored. */
export function useUnloadGuard(isTyped: boolean): void {
  useEffect(() => {
    if (!isTyped) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isTyped])
}
