/** Imports what few texts need when the first of them is shown, once for all. */
import { useEffect, useState } from 'react'

/** Makes a hook that returns the imported module: null until it is loaded, and while it is not wanted. */
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
