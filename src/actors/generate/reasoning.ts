/** The reasoning of one reply as it comes, over all of its turns: cleaned like any text, and timed. */
import { createTextCleaner } from './text-cleaner.ts'

export interface Reasoning {
  /** Returns whether the model is thinking: it has sent reasoning, and nothing else since. */
  isOpen(): boolean
  /** Returns the clean part of the reasoning so far. */
  push(text: string): string
  /** Ends a run of reasoning: the model does something else now. Returns the text that was still pending. */
  close(): string
  /**
   * Returns how long the model has thought (milliseconds), from its first delta to what followed the last. Null when it
   * did not.
   */
  ms(): number | null
}

export function createReasoning(): Reasoning {
  const cleaner = createTextCleaner()
  let since: number | null = null
  let total: number | null = null
  const sum = () => (since === null ? total : (total ?? 0) + performance.now() - since)
  return {
    isOpen: () => since !== null,
    push(text) {
      since ??= performance.now()
      return cleaner.push(text)
    },
    close() {
      total = sum()
      since = null
      return cleaner.end()
    },
    ms() {
      const ms = sum()
      return ms === null ? null : Math.round(ms)
    },
  }
}
