import { startTransition, useOptimistic } from 'react'

/**
 * Returns the text of a field that the address keeps, and the function to call with each letter. The router shows an
 * address with a delay. Until then the field shows what was typed: reset to the previous address, it would lose letters
 * and the caret's place. `keep` resolves once the router has the address.
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
