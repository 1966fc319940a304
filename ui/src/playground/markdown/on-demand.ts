/** What most texts do without is imported when it is first met, once for all of them. */
import { useEffect, useState } from 'react'

/** A hook that has what is imported; null until it is, and while it is not wanted. */
export function onDemand<Part extends object>(load: () => Promise<Part>): (wanted: boolean) => Part | null {
  let part: Part | null = null
  return (wanted) => {
    const [ready, setReady] = useState(() => part)
    useEffect(() => {
      if (!wanted || ready !== null) return
      let left = false
      load().then(
        (loaded) => {
          part = loaded
          if (!left) setReady(loaded)
        },
        // If the import fails, the text stays as it was written.
        () => {},
      )
      return () => {
        left = true
      }
    }, [wanted, ready])
    return ready
  }
}
