/** The reasoning of one reply as it comes, over all of its turns: cleaned like any text, and timed. */
import { createTextCleaner } from './text-cleaner.ts'

export type Reasoning = ReturnType<typeof createReasoning>

export function createReasoning() {
  const cleaner = createTextCleaner()
  let since: number | null = null
  let total: number | null = null
  const sum = () => (since === null ? total : (total ?? 0) + performance.now() - since)
  return {
    /** Returns whether the model is thinking: it has sent reasoning, and nothing else since. */
    isOpen: () => since !== null,
    /** Returns the clean part of the reasoning so far. */
    push(text: string): string {
      since ??= performance.now()
      return cleaner.push(text)
    },
    /** Ends a run of reasoning: the model does something else now. Returns the text that was still pending. */
    close(): string {
      total = sum()
      since = null
      return cleaner.end()
    },
    /**
     * Returns how long the model has thought (milliseconds), from its first delta to what followed the last. Null when it
     * did not.
     */
    ms(): number | null {
      const ms = sum()
      return ms === null ? null : Math.round(ms)
    },
  }
}
