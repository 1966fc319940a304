import { startTransition, useEffect, useState } from 'react'

/** A part of a page that comes a moment later, once: whatever shows it again has it at once. */
export interface Late<Part> {
  load: () => Promise<void>
  /** The part, or null until `load` has resolved. */
  part: Part | null
}

export function late<Part>(load: () => Promise<Part>): Late<Part> {
  const it: Late<Part> = {
    part: null,
    async load() {
      it.part = await load()
    },
  }
  return it
}

/**
 * Returns the part; null until it is there. Not by Suspense, which would show what stands for the part for at least 300
 * ms. What `load` rejects with crashes the page, as a part that Suspense waits for would.
 */
export function useLoaded<Part>(of: Late<Part>, wanted: boolean): Part | null {
  const [part, setPart] = useState<Part | null>(() => of.part)
  useEffect(() => {
    if (!wanted) return
    of.load().then(
      () => startTransition(() => setPart(() => of.part)),
      (error: unknown) =>
        setPart(() => {
          throw error
        }),
    )
  }, [of, wanted])
  return part
}
