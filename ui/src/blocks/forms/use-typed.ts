import { startTransition, useOptimistic } from 'react'

/**
 * The text of a field that the address keeps, and what is called with each letter. The router shows an address a while after
 * it has changed. Until then the field shows what was typed: set back to the address of before, it would lose letters, and
 * the caret its place.
 *
 * `keep` resolves once the router has the address.
 */
export function useTyped(kept: string, keep: (text: string) => Promise<void>): [string, (text: string) => void] {
  const [text, show] = useOptimistic(kept)
  const type = (typed: string) =>
    startTransition(async () => {
      show(typed)
      await keep(typed)
    })
  return [text, type]
}
