import { startTransition, useEffect, useState } from 'react'

/**
 * A part of a page that comes a moment later; null until then. Not by Suspense, which would show what stands for the part for at
 * least 300 ms. What `load` rejects with crashes the page, as a part that Suspense waits for would.
 */
export function useLoaded<Part>(load: () => Promise<Part>, wanted: boolean): Part | null {
  const [part, setPart] = useState<Part | null>(null)
  useEffect(() => {
    if (!wanted) return
    load().then(
      (loaded) => startTransition(() => setPart(() => loaded)),
      (error: unknown) =>
        setPart(() => {
          throw error
        }),
    )
  }, [load, wanted])
  return part
}
